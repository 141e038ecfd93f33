import type { Told } from './caller.ts'
import { type Choice, Controller, labelOf } from './controller.ts'
import type { Flow } from './flow.ts'
import { type Player, playersOf } from './players.ts'
import { sightOf, type Scenario } from './scenario.ts'
import type { Trace } from './trace.ts'
import type { SeenRecord } from './watcher.ts'

/** From before a player's first step to behind the one that it was told at, as indices of the looks. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** A player that has ended. */
export interface Ended {
  readonly player: Player
  readonly told: Told
  readonly span: Span
}

/** What happened in one schedule. */
export interface Course {
  readonly choices: readonly Choice[]
  /** Whose each step was. */
  readonly movers: readonly string[]
  /** The record as committed behind each step; before the first one comes first. */
  readonly looks: readonly (SeenRecord | undefined)[]
  /** Who held the record then, by a transaction that was open. */
  readonly holders: readonly (readonly string[])[]
  readonly ended: readonly Ended[]
}

interface Playing {
  readonly player: Player
  readonly told: Promise<Told>
  /** It may have statements left, as behind a replay whose rollback is not waited for. */
  isTold?: true
  from?: number
  to?: number
}

/**
 * Runs one schedule: as the prefix says, then always the first who can.
 *
 * @throws when it cannot go on, or the prefix has led elsewhere than before.
 */
export async function runSchedule(
  flow: Flow,
  scenario: Scenario,
  key: string,
  prefix: readonly Choice[],
  trace: Trace,
): Promise<Course> {
  const { company, everyStatement } = scenario
  const { watcher, moves } = flow
  const look = async () => (await watcher.records(key, sightOf(company)))[0]
  await watcher.clear(key, company.before)
  const looks = [await look()]
  const holders: string[][] = [[]]
  const choices: Choice[] = []
  const movers: string[] = []
  const playing = playersOf(scenario, flow).map((player): Playing => {
    const { stepper } = player.seat
    stepper.begin({ everyStatement, trace })
    const told = player.play(key)
    const one: Playing = { player, told }
    void told.then(async () => {
      one.isTold = true
      await player.seat.untilBack()
      stepper.end()
    })
    return one
  })
  const players = playing.map(({ player }) => player)
  const controller = new Controller(players, moves, watcher)
  await controller.settle()
  for (let ready = controller.ready(); ready.length > 0; ready = controller.ready()) {
    const choice = chosen(ready.map(labelOf), prefix[choices.length])
    const stepper = ready[choice.index]?.seat.stepper
    if (!stepper) throw new Error('a choice of nobody')
    choices.push(choice)
    movers.push(stepper.name)
    trace.step = choices.length
    stepper.letGo()
    await controller.settle()
    if (company.overAtOnce && stepper.transaction.hasSetClock) await watcher.untilWindowOver()
    // What is committed changes with the end of a transaction alone.
    const hasEnded = players.some(({ seat }) => seat.stepper.transaction.hasEndedOne)
    looks.push(hasEnded ? await look() : looks.at(-1))
    holders.push(
      players.filter(({ seat }) => seat.stepper.transaction.holdsRecord).map(({ name }) => name),
    )
    // What an answer has led to has happened then, and nothing else could before the next step.
    await new Promise(setImmediate)
    noteSpans(playing, stepper.name, trace.step)
  }
  if (controller.blocked().length > 0) throw new Error('everybody waits for somebody else')
  return { choices, movers, looks, holders, ended: await Promise.all(playing.map(endOf)) }
}

/** The same as before, or else the first. */
function chosen(of: readonly string[], before: Choice | undefined): Choice {
  if (before && before.of.join() !== of.join()) {
    throw new Error(`the same choices led elsewhere: ${before.of.join()} became ${of.join()}`)
  }
  return before ?? { index: 0, of }
}

function noteSpans(playing: readonly Playing[], mover: string, step: number): void {
  for (const one of playing) {
    if (one.player.name === mover) one.from ??= step - 1
    if (one.isTold) one.to ??= step
  }
}

async function endOf({ player, told, from, to }: Playing): Promise<Ended> {
  if (from === undefined || to === undefined) throw new Error(`${player.name} did nothing`)
  return { player, told: await told, span: { from, to } }
}
