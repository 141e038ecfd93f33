import { checkFlag, checkMs, checkNames, checkWhole, invalid } from '../checks.ts'
import { problemOfText } from '../scope.ts'
import type { EndpointOptions } from './options.ts'
import { isStorable } from './stored-headers.ts'

/** With every default filled in. */
export type ResolvedEndpoint<Request> = Required<
  Omit<EndpointOptions<Request>, 'fingerprint' | 'finalStatuses'>
> &
  Pick<EndpointOptions<Request>, 'fingerprint'> & { readonly finalStatuses: readonly number[] }

const MAX_BYTES = 256 * 1_048_576

/** A refusal of the business, by what HTTP calls it. */
const BUSINESS = [402, 409, 410, 422]

const DRAFT = 'https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header-07'

const defaults = {
  fingerprint: undefined,
  methods: ['POST', 'PATCH'],
  required: true,
  strict: false,
  maxRequestBytes: 1_048_576,
  finalStatuses: [],
  storedHeaders: [],
  deadlineMs: 30_000,
  exposeHeaders: false,
  describedBy: DRAFT,
} as const satisfies Omit<EndpointOptions<never>, 'operation' | 'principal' | 'fingerprint'> & {
  fingerprint: undefined
}

type WithDefaults<Request> = Required<Omit<EndpointOptions<Request>, 'fingerprint'>> &
  Pick<EndpointOptions<Request>, 'fingerprint'>

/** @throws OncelyError `invalid_options`. */
export function resolveEndpoint<Request>(
  given: EndpointOptions<Request>,
): ResolvedEndpoint<Request> {
  checkNames(given, [...Object.keys(defaults), 'operation', 'principal'])
  const set = Object.entries(given).filter(([, value]) => value !== undefined)
  const options = { ...defaults, ...Object.fromEntries(set) } as unknown as WithDefaults<Request>
  const problem = problemOfText(options.operation)
  if (problem) throw invalid(`operation ${problem}`)
  checkFunctions(options)
  for (const name of ['required', 'strict', 'exposeHeaders'] as const) {
    checkFlag(name, options[name])
  }
  checkWhole('maxRequestBytes', options.maxRequestBytes, 0, MAX_BYTES)
  checkMs('deadlineMs', options.deadlineMs, 2_147_483_647)
  if (!URL.canParse(options.describedBy)) throw invalid('describedBy must be a URL')
  return Object.freeze({
    ...options,
    // As a header can have it.
    describedBy: new URL(options.describedBy).href,
    methods: methodsOf(options.methods),
    storedHeaders: storable(options.storedHeaders),
    finalStatuses: statuses(options.finalStatuses),
  })
}

function checkFunctions({ principal, fingerprint }: Partial<EndpointOptions<never>>): void {
  if (typeof principal !== 'function') throw invalid('principal must be a function')
  if (fingerprint !== undefined && typeof fingerprint !== 'function') {
    throw invalid('fingerprint must be a function')
  }
}

/** RFC 9110, section 5.6.2. */
function tokens(name: string, given: unknown): readonly string[] {
  const isToken = (one: unknown) => typeof one === 'string' && /^[!#$%&'*+\-.^_`|~\w]+$/.test(one)
  if (Array.isArray(given) && given.every(isToken)) return given as string[]
  throw invalid(`${name} must be an array of names`)
}

function methodsOf(given: readonly string[]): readonly string[] {
  const methods = tokens('methods', given).map((method) => method.toUpperCase())
  const safe = ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'CONNECT']
  if (methods.length > 0 && !methods.some((method) => safe.includes(method))) return methods
  throw invalid('methods must name methods that write: those that read have no key')
}

function storable(given: readonly string[]): readonly string[] {
  const names = tokens('storedHeaders', given).map((name) => name.toLowerCase())
  for (const name of names) {
    if (!isStorable(name))
      throw invalid(
        `the header '${name}' cannot be stored: it is of a caller, a moment or a connection`,
      )
  }
  return names
}

function statuses(given: unknown): readonly number[] {
  if (given === 'business') return BUSINESS
  const isClientError = (one: unknown) =>
    Number.isInteger(one) && Number(one) >= 400 && Number(one) <= 499
  if (Array.isArray(given) && given.every(isClientError)) return given as number[]
  throw invalid("finalStatuses must be 'business' or an array of statuses from 400 to 499")
}
