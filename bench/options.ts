import { parseArgs } from 'node:util'

export const usage = `npm run bench -- [options]

Measures oncely against what one would write without it, on an embedded PostgreSQL with fsync on.
Ends with 1 when a budget's must is missed, or anything else that is promised.

  --quick          only what has a budget, in less than 90 seconds; with --only size or
                   --only memory, less of it
  --only NAME      only budgets and sections with this in their name; may be repeated
  --json FILE      writes what was measured
  --from FILE      measures nothing and reports what was written there
  --charts FOLDER  draws charts as SVG, and writes a README.md with all figures beside them
  --help           prints this`

export interface BenchOptions {
  readonly quick: boolean
  readonly only: readonly string[]
  readonly json: string | undefined
  readonly from: string | undefined
  readonly charts: string | undefined
  readonly help: boolean
}

/** The command was called in a way that it cannot be. */
export class UsageError extends Error {}

/** @throws UsageError */
export function parseOptions(args: readonly string[]): BenchOptions {
  const values = parse(args)
  const { json, from, charts } = values
  if (from !== undefined && (values.quick || values.only.length > 0 || json !== undefined)) {
    throw new UsageError('--from measures nothing: it goes with --charts alone')
  }
  return { ...values, json, from, charts }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        quick: { type: 'boolean', default: false },
        only: { type: 'string', multiple: true, default: [] },
        json: { type: 'string' },
        from: { type: 'string' },
        charts: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}
