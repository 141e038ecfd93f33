// Runs in the browser: does what the test asks for, one beside the other, and says what came of it.
import type { Task, Told } from './page-server.ts'
import { scenarios } from './scenarios.ts'

declare const location: { reload(): void }

async function play({ id, name, given }: Task): Promise<void> {
  const scenario = scenarios[name as keyof typeof scenarios] as (
    ...given: readonly unknown[]
  ) => Promise<unknown>
  const played = (async () => scenario(...given))()
  const told: Told = await played.then(
    (value) => ({ id, value }),
    (error: unknown) => ({ id, error: String(error) }),
  )
  await fetch('/told', { method: 'POST', body: JSON.stringify(told) })
}

for (;;) {
  const response = await fetch('/task')
  const task = (await response.json()) as Task
  if (task.name === 'reload') {
    location.reload()
    break
  }
  void play(task)
}
