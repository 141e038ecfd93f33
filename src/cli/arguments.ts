import { parseArgs } from 'node:util'

import { OncelyError } from '../errors.ts'
import { DEFAULT_SCHEMA } from '../options.ts'

/** What an option takes: a text, or nothing. */
type Option = 'text' | 'flag'

type Values<Options extends Readonly<Record<string, Option>>> = {
  readonly [Name in keyof Options]: Options[Name] extends 'flag' ? boolean : string | undefined
} & { readonly schema: string }

/**
 * The options of one command, and `--schema`, which all of them take.
 *
 * @throws OncelyError `invalid_options`.
 */
export function parse<const Options extends Readonly<Record<string, Option>>>(
  args: string[],
  options: Options,
): Values<Options> {
  const types = Object.fromEntries(
    Object.entries<Option>({ ...options, schema: 'text' }).map(([name, option]) => [
      name,
      option === 'flag'
        ? { type: 'boolean' as const, default: false }
        : { type: 'string' as const },
    ]),
  )
  try {
    return {
      schema: DEFAULT_SCHEMA,
      ...parseArgs({ args, options: types }).values,
    } as Values<Options>
  } catch (cause) {
    const message = (cause as Error).message.replace(/\s+/g, ' ')
    throw new OncelyError('invalid_options', message, { cause })
  }
}
