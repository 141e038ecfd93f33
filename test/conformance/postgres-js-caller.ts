// A process that makes one call on postgres.js, `URL KEY HOST`, and says how it ended, if it can.
import { createIdempotency } from 'oncely'
import { oncelyDialect } from 'oncely/pg'

import { one, scope, writeNote } from '../support/notes-host.ts'
import { postgresJsHost } from './postgres-js-host.ts'

const [url = '', key = '', name] = process.argv.slice(2)
const wrap = name === 'oncelyDialect' ? oncelyDialect : undefined
const { db, pool } = postgresJsHost(url, {}, { wrap })
const result = await createIdempotency(db).withIdempotency(scope, key, one, writeNote)
console.log(JSON.stringify(result))
await pool.end()
