import { ordersOnExpress } from '../../examples/orders/express.ts'
import type { OrdersDatabase } from '../../examples/orders/order.ts'
import { scriptedServer, type ScriptedServer, type Step } from '../client/scripted-server.ts'
import type { TestDatabase } from '../support/database.ts'

/** The orders service, over sockets, with a script of what goes wrong in front of it. */
export interface OrdersServer {
  readonly server: ScriptedServer
  /** Where orders are sent, by this script. */
  readonly url: string
  /** Lets the service answer, to alice where nobody says who it is. */
  readonly pass: Step
  /** The same, by the switch of the service: its answer is lost behind the commit. */
  readonly lose: Step
  /** The keys that have come by this script, without quotes, one for each request. */
  keys(): readonly string[]
  /** How many orders are there under them. */
  orders(): Promise<number>
}

/** To be called once, behind `testDatabase`. */
export function ordersServer(database: TestDatabase): OrdersServer {
  const server = scriptedServer()
  const service = ordersOnExpress(database.connect<OrdersDatabase>()) as unknown as Step
  const pass: Step = (request, response) => {
    request.headers.authorization ??= 'Bearer alice'
    return service(request, response)
  }
  const keys = () =>
    server.requests.map(({ headers }) => String(headers['idempotency-key']).replaceAll('"', ''))
  return {
    server,
    get url() {
      return `${server.url}/orders`
    },
    pass,
    lose(request, response) {
      request.headers['x-demo-lose-response'] = '1'
      return pass(request, response)
    },
    keys,
    async orders() {
      const placed = database.watcher.selectFrom('orders').select('order_number')
      return (await placed.where('idempotency_key', 'in', keys()).execute()).length
    },
  }
}

export const tea = { sku: 'TEA', amountMinor: 100 }
/** So that no test waits longer than it has to. */
export const quick = { initialDelayMs: 0, maxDelayMs: 1 }
