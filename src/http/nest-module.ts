import { IdempotentCall } from './nest-call.ts'
import { IdempotencyInterceptor } from './nest-interceptor.ts'
import type { DynamicModuleLike, ProviderLike } from './nest-like.ts'
import type { OncelyModuleOptions } from './nest-route.ts'

/** How a module's options are made of what others export. */
export interface OncelyModuleAsyncOptions<DB, Request, Given extends readonly unknown[]> {
  /**
   * Modules whose exports are injected.
   *
   * @defaultValue none: what is global can be injected.
   */
  readonly imports?: readonly unknown[]
  /**
   * Tokens of what the factory is called with.
   *
   * @defaultValue none.
   */
  readonly inject?: readonly unknown[]
  /** Makes the options. */
  readonly useFactory: (
    ...given: Given
  ) => OncelyModuleOptions<DB, Request> | Promise<OncelyModuleOptions<DB, Request>>
}

/** As NestJS calls it, in whatever module: an interceptor of the whole application. */
const APP_INTERCEPTOR = 'APP_INTERCEPTOR'

/**
 * Makes methods of controllers idempotent that are marked by `@Idempotent()`, and `IdempotentCall` injectable
 * everywhere. To be imported once, in front of modules with interceptors of the whole application.
 */
// eslint-disable-next-line @typescript-eslint/no-extraneous-class -- NestJS knows a module by its class
export class OncelyModule {
  /**
   * @throws OncelyError `invalid_options`, when the application is made.
   *
   * @example
   * ```ts
   * \@Module({ imports: [OncelyModule.forRoot({ idempotency, principal })] })
   * ```
   */
  static forRoot<DB, Request extends object>(
    options: OncelyModuleOptions<DB, Request>,
  ): DynamicModuleLike {
    return OncelyModule.forRootAsync({ useFactory: () => options })
  }

  /**
   * The same, with options that are made of what other modules export, such as the one of the database.
   *
   * @throws OncelyError `invalid_options`, when the application is made.
   */
  static forRootAsync<DB, Request extends object, Given extends readonly unknown[]>(
    options: OncelyModuleAsyncOptions<DB, Request, Given>,
  ): DynamicModuleLike {
    const { imports = [], inject = [], useFactory } = options
    const providers = [
      { provide: IdempotentCall, useFactory: () => new IdempotentCall(), inject: [] },
      {
        provide: APP_INTERCEPTOR,
        inject: [...inject],
        useFactory: async (...given: Given) =>
          new IdempotencyInterceptor(await useFactory(...given)),
      },
    ]
    return {
      module: OncelyModule,
      global: true,
      imports: [...imports] as never[],
      providers: providers as unknown as ProviderLike[],
      exports: [IdempotentCall] as never[],
    }
  }
}
