/** Builds requests from the config. Each value is encoded for its place in the request. */
import type { Json } from '../contract.ts'
import { ExpressionError, type Place } from './expression.ts'
import type { HeaderValue, RequestOptions } from './fields.ts'
import { readSecret } from '../credentials/secret.ts'
import type { Header } from '../http-client/authorization.ts'
import type { HttpRequest } from '../http-client/http-request.ts'
import { isPlainElsewhere, PLAIN_HTTP_WAY_OUT } from '../http-client/plain-http.ts'
import { compileBody, compileText, type Template } from './template.ts'

export type MakeRequest = (values: Record<string, unknown>) => HttpRequest

type MakeHeader = (values: Record<string, unknown>) => Header

function encodeForPath(value: string, field: string): string {
  if (value === '') throw new ExpressionError(`${field}: an empty value cannot stand in a path`)
  if (!value.isWellFormed()) throw new ExpressionError(`${field}: a value that is no Unicode text cannot stand in a path`)
  return encodeURIComponent(value)
}

/** Refuses `.` and `..` in a path, because a URL resolves them even if they are encoded. */
function assertNoWays(path: string, field: string): string {
  const segments = path.split(/[?#]/, 1)[0]!.split('/')
  if (!segments.some((segment) => /^(\.|%2e){1,2}$/i.test(segment))) return path
  throw new ExpressionError(`${field}: "." or ".." cannot stand for a name in a path`)
}

function headerMaker(name: string, value: HeaderValue, place: Place, field: string): MakeHeader {
  if (typeof value !== 'string') {
    return () => {
      const secret = readSecret(value)
      return { name, value: `${value.prefix ?? ''}${secret}`, secrets: [secret] }
    }
  }
  const text = compileText(value, place, field)
  return (values) => {
    const made = text(values)
    if (/[^\x20-\x7e]/.test(made)) throw new ExpressionError(`${field}: ${JSON.stringify(made)} cannot stand in a header`)
    return { name, value: made }
  }
}

/** Encodes a value as a host name or an IP address. It cannot become another part of the URL. */
function encodeForHost(value: string, field: string): string {
  const isV6 = /^[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*$/.test(value)
  if (isV6 && URL.canParse(`http://[${value}]`)) return `[${value}]`
  if (/^[A-Za-z0-9._-]+$/.test(value)) return value
  throw new ExpressionError(`${field}: ${JSON.stringify(value)} is no name or address of a host`)
}

export interface RequestContext {
  /** True if a secret may use plain HTTP to another host. */
  allowPlainHttp: boolean
  /** True if each request includes the token of a session. */
  hasLogin: boolean
  /** The headers of every request, from `auth` and `headers`. */
  common: readonly MakeHeader[]
}

export function headerMakers(headers: Record<string, HeaderValue>, place: Place, field: string): MakeHeader[] {
  return Object.entries(headers).map(([name, value]) => headerMaker(name, value, place, `${field}.${name}`))
}

export function compileRequest(request: RequestOptions, place: Place, field: string, context: RequestContext): MakeRequest {
  const { method, path, headers = {}, body, expect } = request
  const url = 'url' in request ? request.url : undefined
  const makeUrl = url === undefined ? undefined : compileText(url, place, `${field}.url`, encodeForHost)
  const makePath = compileText(path, place, `${field}.path`, encodeForPath)
  const makers = [...context.common, ...headerMakers(headers, place, `${field}.headers`)]

  /** Checks plain HTTP at the request, because the host of an entry is not known earlier. */
  function assertNotInPlain(baseUrl: string, hasSecret: boolean): void {
    if (context.allowPlainHttp || !hasSecret || !isPlainElsewhere(baseUrl)) return
    throw new ExpressionError(
      `${field}.url: would send credentials over plain HTTP to ${new URL(baseUrl).host}; ${PLAIN_HTTP_WAY_OUT}`,
    )
  }

  const makeBody: Template<Json> | undefined = body === undefined ? undefined : compileBody(body, place, `${field}.body`)
  return (values) => {
    const made = makers.map((make) => make(values))
    const secrets = made.flatMap((one) => one.secrets ?? [])
    const baseUrl = makeUrl?.(values)
    if (baseUrl !== undefined) assertNotInPlain(baseUrl, context.hasLogin || secrets.length > 0)
    return {
      method,
      ...(baseUrl === undefined ? {} : { baseUrl }),
      path: assertNoWays(makePath(values), `${field}.path`),
      headers: {
        ...(makeBody === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...Object.fromEntries(made.map(({ name, value }) => [name, value])),
      },
      body: makeBody === undefined ? undefined : JSON.stringify(makeBody(values)),
      expect,
      secrets,
    }
  }
}
