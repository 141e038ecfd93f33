/** What is used of an ExecutionContext of NestJS. */
export interface ExecutionContextLike {
  /** `http` for a route. */
  getType(): string
  /** The method of the controller. */
  getHandler(): object
  /** As of an ExecutionContext. */
  switchToHttp(): {
    /** The platform's own. */
    getRequest(): unknown
    /** The platform's own. */
    getResponse(): unknown
    /** Of Express. */
    getNext(): unknown
  }
}

/** What is used of a CallHandler of NestJS. */
export interface CallHandlerLike {
  /** Runs the pipes and the method. */
  handle(): ObservableLike
}

/** What is used of an Observable. */
export interface ObservableLike {
  /** As of an Observable. */
  subscribe(observer: {
    next(value: unknown): void
    error(error: unknown): void
    complete(): void
  }): { unsubscribe(): void }
}

/** Something that NestJS makes others of, by its name. */
export interface ProviderLike {
  /** What it is injected by. */
  readonly provide: never
  /** Makes it. */
  readonly useFactory: (...given: never[]) => unknown
  /** What it is made of. */
  readonly inject: never[]
}

/** A class that is a module. */
export type ModuleLike = new () => object

/** A dynamic module of NestJS. */
export interface DynamicModuleLike {
  /** By which NestJS knows it. */
  readonly module: ModuleLike
  /** Whether each module can inject what it exports. */
  readonly global: boolean
  /** Modules whose exports its options are made of. */
  readonly imports: never[]
  /** What it is made of. */
  readonly providers: ProviderLike[]
  /** What others can inject. */
  readonly exports: never[]
}

/**
 * The last value of an Observable, which NestJS sends, in an array; an empty one where there is none.
 *
 * @returns with what ends it, when nobody waits for it any more.
 */
export function lastOf(
  observable: ObservableLike,
): [Promise<readonly unknown[]>, stop: () => void] {
  const { promise, resolve, reject } = Promise.withResolvers<readonly unknown[]>()
  let last: readonly unknown[] = []
  const subscription = observable.subscribe({
    next(value) {
      last = [value]
    },
    error: reject,
    complete() {
      resolve(last)
    },
  })
  return [
    promise,
    () => {
      subscription.unsubscribe()
    },
  ]
}
