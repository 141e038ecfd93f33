// Makes the one call of a plan and says what it came to: `caller.ts PLAN URL KEY`.
import { connect, Runs } from './notes.ts'
import { plans } from './plans.ts'

const [name, url, key] = process.argv.slice(2) as [keyof typeof plans, string, string]
const plan = plans[name]
const db = connect(url, plan.host)
const told = await plan.call(db, key, new Runs()).then(
  (result) => ({ result }),
  (error: unknown) => ({ error: String(error) }),
)
console.log(JSON.stringify(told))
await db.destroy()
