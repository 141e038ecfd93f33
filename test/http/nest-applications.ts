// Applications of NestJS on both of its platforms, as a host makes them.
import 'reflect-metadata'

import type { Server as NodeServer } from 'node:http'
import { afterEach } from 'node:test'

import type { INestApplication, NestApplicationOptions, Type } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { FastifyAdapter } from '@nestjs/platform-fastify'

import { listening } from './conformance/adapters/parts.ts'

export const platforms = ['express', 'fastify'] as const
export type Platform = (typeof platforms)[number]

interface Starting extends NestApplicationOptions {
  /** What a main file does before it listens. */
  readonly set?: (app: INestApplication) => unknown
}

/** To be called at the top of a test file. Applications are closed behind the test that they are of. */
export function nestApplications() {
  const open: INestApplication[] = []
  afterEach(async () => {
    for (const app of open.splice(0)) await app.close()
  })
  /** @returns the URL, without a slash at its end. */
  return async (platform: Platform, module: Type, { set, ...more }: Starting = {}) => {
    const options = { logger: false, forceCloseConnections: true, ...more } as const
    const app = await (platform === 'express'
      ? NestFactory.create(module, options)
      : NestFactory.create(module, new FastifyAdapter({ forceCloseConnections: true }), options))
    open.push(app)
    await set?.(app)
    await app.listen(0, '127.0.0.1')
    return (await listening(app.getHttpServer() as NodeServer)).url
  }
}
