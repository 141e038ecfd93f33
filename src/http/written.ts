import type { HttpCall } from './call.ts'
import type { Endpoint } from './endpoint.ts'
import type { Exchange, Handled, Served } from './exchange.ts'
import type { Outlet } from './outlet.ts'
import type { TakenResponse } from './taken-response.ts'
import type { UnderWay } from './under-way.ts'

/** One request, whose handler writes to a response of Node. */
interface Written<DB, Request extends object> {
  readonly endpoint: Endpoint<DB, Request>
  readonly calls: UnderWay<DB, Request>
  readonly exchange: Exchange<Request>
  readonly outlet: Outlet
  /** Runs the handler. What it returns is waited for in the place of the end of the response. */
  readonly run: (call: HttpCall<DB>, taken: TakenResponse) => Promise<Handled> | undefined
}

/**
 * Serves a request, and sends the answer.
 *
 * @returns by whom it is answered; by nobody where it is not ours, and nothing was done.
 * @throws what the handler and the functions of the route throw, and a database that is not ready; the response
 * is then as it was.
 */
export async function serveWritten<DB, Request extends object>(
  written: Written<DB, Request>,
): Promise<Served['by']> {
  const { endpoint, calls, exchange, outlet, run } = written
  const { request } = exchange
  try {
    const served = await calls.during(request, endpoint.options.operation, () =>
      endpoint.serve(exchange, (call) => {
        calls.set(request, call)
        const taken = outlet.take(endpoint.maxResponseBytes)
        return run(call, taken) ?? taken.answered
      }),
    )
    outlet.answer(served)
    return served.by
  } catch (error) {
    outlet.clear()
    throw error
  }
}
