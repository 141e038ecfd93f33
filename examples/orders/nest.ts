import 'reflect-metadata'

import type { IncomingMessage, ServerResponse } from 'node:http'

import {
  BadRequestException,
  Body,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Headers,
  Inject,
  Injectable,
  type MiddlewareConsumer,
  Module,
  type NestModule,
  Param,
  Post,
  Req,
  Res,
  UnauthorizedException,
  UseGuards,
} from '@nestjs/common'
import { Kysely } from 'kysely'
import { createIdempotency } from 'oncely'
import { Idempotent, IdempotentCall, OncelyModule, type Principal } from 'oncely/nestjs'

import { loseResponse } from './lose-response.ts'
import type { OrdersDatabase } from './order.ts'
import {
  type Answer,
  callerOf,
  createOrder,
  findOrder,
  newOrderFingerprint,
  newOrderSchema,
  ordersIdempotency,
} from './service.ts'

/** A request of either platform, and what the guard has found out. */
interface OrderRequest {
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: unknown
  caller: Principal
}

/** A response of either platform. */
interface OrderResponse {
  status(code: number): unknown
  header(name: string, value: string): unknown
}

@Injectable()
class Authenticated implements CanActivate {
  canActivate(context: ExecutionContext) {
    const request = context.switchToHttp().getRequest<OrderRequest>()
    const caller = callerOf(request.headers['authorization'])
    if (!caller) throw new UnauthorizedException({ code: 'unauthenticated' })
    request.caller = caller
    return true
  }
}

/** Pipes run behind the claim, so that the fingerprint validates by itself. */
function orderOf(body: unknown) {
  const parsed = newOrderSchema.safeParse(body)
  if (parsed.success) return parsed.data
  throw new BadRequestException({ code: 'invalid', issues: parsed.error.issues })
}

function sent({ status, body, location }: Answer, response: OrderResponse) {
  response.status(status)
  if (location !== undefined) response.header('location', location)
  return body
}

@Controller('orders')
@UseGuards(Authenticated)
class OrdersController {
  readonly #db: Kysely<OrdersDatabase>
  readonly #call: IdempotentCall<OrdersDatabase>

  constructor(
    @Inject(Kysely) db: Kysely<OrdersDatabase>,
    @Inject(IdempotentCall) call: IdempotentCall<OrdersDatabase>,
  ) {
    this.#db = db
    this.#call = call
  }

  @Post()
  @Idempotent({
    operation: 'orders.create',
    fingerprint: ({ body }: OrderRequest) => newOrderFingerprint(orderOf(body)),
  })
  async create(
    @Body() body: unknown,
    @Headers('x-demo-slow-ms') slowMs: string | undefined,
    @Res({ passthrough: true }) response: OrderResponse,
  ) {
    const switches = { slowMs: Number(slowMs ?? 0) }
    return sent(await createOrder(this.#call, orderOf(body), switches), response)
  }

  @Get(':id')
  async find(
    @Req() { caller }: OrderRequest,
    @Param('id') id: string,
    @Res({ passthrough: true }) response: OrderResponse,
  ) {
    return sent(await findOrder(this.#db, caller, id), response)
  }
}

@Controller('healthz')
class HealthController {
  @Get()
  show() {
    return { ok: true }
  }
}

/** The orders service on NestJS, for both of its platforms. */
export function ordersModule(db: Kysely<OrdersDatabase>) {
  @Module({
    imports: [
      OncelyModule.forRoot({
        idempotency: ordersIdempotency(createIdempotency(db)),
        principal: ({ caller }: OrderRequest) => caller,
      }),
    ],
    controllers: [OrdersController, HealthController],
    providers: [{ provide: Kysely, useValue: db }],
  })
  class OrdersModule implements NestModule {
    configure(consumer: MiddlewareConsumer) {
      const losing = (request: IncomingMessage, response: ServerResponse, next: () => void) => {
        loseResponse(request, response)
        next()
      }
      consumer.apply(losing).forRoutes(OrdersController)
    }
  }
  return OrdersModule
}
