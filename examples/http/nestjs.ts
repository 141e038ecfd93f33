import 'reflect-metadata'

import type { IncomingMessage } from 'node:http'

import { Body, Controller, Inject, Injectable, Module, Post } from '@nestjs/common'
import { Idempotent, IdempotentCall, OncelyModule } from 'oncely/nestjs'

import type { Database } from '../quick-start.ts'
import { callerOf, idempotency } from './idempotency.ts'

@Injectable()
class Orders {
  @Inject(IdempotentCall) readonly call!: IdempotentCall<Database>

  async create(sku: string) {
    const { tx, context } = this.call
    const order = { id: context.childKey('order'), sku, cents: 1999 }
    await tx.insertInto('orders').values(order).execute()
    return order
  }
}

@Controller('orders')
class OrdersController {
  @Inject(Orders) readonly orders!: Orders

  @Post()
  @Idempotent({ operation: 'orders.create' })
  create(@Body('sku') sku: string) {
    return this.orders.create(sku)
  }
}

const principal = ({ headers }: IncomingMessage) => callerOf(headers['x-user-id']?.toString())

@Module({
  imports: [OncelyModule.forRoot({ idempotency, principal })],
  controllers: [OrdersController],
  providers: [Orders],
})
export class AppModule {}
