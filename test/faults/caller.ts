// Makes the one call of a plan and says what it came to: `caller.ts PLAN HOST URL KEY`.
import { connect, type HostName, Runs } from './notes.ts'
import { plans } from './plans.ts'

type Given = [plan: keyof typeof plans, host: HostName, url: string, key: string]

const [name, host, url, key] = process.argv.slice(2) as Given
const plan = plans[name]
const db = connect(url, host)
const told = await plan.call(db, key, new Runs()).then(
  (result) => ({ result }),
  (error: unknown) => ({ error: String(error) }),
)
console.log(JSON.stringify(told))
await db.destroy()
