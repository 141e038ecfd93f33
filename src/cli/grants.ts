import { OncelyError } from '../errors.ts'
import { grantStatements } from '../migrate/grants.ts'
import { parse } from './arguments.ts'

/** `oncely migrate grants`, which needs no database. */
export function grants(args: string[]): number {
  const options = { role: 'text', sweeper: 'flag', 'with-orders': 'flag' } as const
  const { role, schema, sweeper, 'with-orders': withOrders } = parse(args, options)
  if (role === undefined) throw new OncelyError('invalid_options', 'say for whom: --role NAME')
  for (const statement of grantStatements({ role, schema, sweeper, withOrders })) {
    process.stdout.write(`${statement};\n`)
  }
  return 0
}
