/** Checks of the options that a schema cannot express: expressions, templates, secrets, and combinations of fields. */
import { parseDuration } from '../../src/config/duration.ts'
import type { Json } from '../contract.ts'
import { allOutcomes, expressionProblem, literalOutcomes, type Place, usesVariable, type Wanted } from './expression.ts'
import { effectPlace } from './effect.ts'
import { type HttpOptions, type RequestOptions, requestsOf } from './fields.ts'
import { looksLikeCredentials, looksSecret, SECRET_WAY_OUT } from '../credentials/secret.ts'
import { isPlainElsewhere, PLAIN_HTTP_WAY_OUT } from '../http-client/plain-http.ts'
import { bodyStrings, parseTemplate } from './template.ts'

/** A problem of a field. The second line of `message` is optional and tells the solution. */
export interface FieldProblem {
  path: PropertyKey[]
  message: string
}

const ADMIN_STATES = ['in', 'draining', 'out']

function expressionProblems(options: HttpOptions): FieldProblem[] {
  const { targets, inspect, login, failover } = options
  const entryPlace = targets.request === undefined ? 'endpoint' : 'entry'
  const fields: [PropertyKey[], string | undefined, Place, Wanted][] = [
    [['targets', 'each'], targets.each, 'list', 'list'],
    [['targets', 'id'], targets.id, entryPlace, 'text'],
    [['targets', 'address'], targets.address, 'entry', 'text'],
    [['targets', 'scope'], targets.scope, entryPlace, 'text'],
    [['inspect', 'entry'], inspect?.entry, 'list', 'json'],
    [['inspect', 'admin'], inspect?.admin, 'reading', 'text'],
    [['inspect', 'routable'], inspect?.routable, 'reading', 'flag'],
    [['inspect', 'weight'], inspect?.weight, 'reading', 'number'],
    [['inspect', 'inFlight'], inspect?.inFlight, 'reading', 'number'],
    [['inspect', 'prior'], inspect?.prior, 'reading', 'json'],
    [['login', 'token'], login?.token, 'list', 'text'],
    [['failover', 'active'], failover?.active, 'list', 'flag'],
  ]
  return fields.flatMap(([path, text, place, wanted]) => {
    const message = text === undefined ? undefined : expressionProblem(text, place, wanted)
    return message === undefined ? [] : [{ path, message }]
  })
}

/** The problems of states that `admin` never gives. An entry with weight 0 counts as "draining" for every value of `admin`. */
function neverGiven({ admin, weight, missing }: NonNullable<HttpOptions['inspect']>): FieldProblem[] {
  const outcomes = allOutcomes(admin, 'reading')
  if (outcomes === undefined) return []
  const path = ['inspect', 'admin']
  if (!outcomes.includes('in')) return [{ path, message: 'never gives "in"\nlet it give "in" for an entry in rotation' }]
  if (outcomes.includes('draining') || weight !== undefined || missing !== undefined) return []
  const message =
    'never gives "draining", so that what drain does could not be told from what an operator does\n' +
    'let it give "draining" for what drain sets, and "out" only for what somebody else does'
  return [{ path, message }]
}

function adminProblems({ inspect }: HttpOptions): FieldProblem[] {
  if (inspect === undefined || expressionProblem(inspect.admin, 'reading', 'text') !== undefined) return []
  const strange = literalOutcomes(inspect.admin, 'reading').find((outcome) => !ADMIN_STATES.includes(String(outcome)))
  if (strange === undefined) return neverGiven(inspect)
  const message = `gives ${JSON.stringify(strange)}\nit must give ${ADMIN_STATES.map((state) => `"${state}"`).join(', ')}`
  return [{ path: ['inspect', 'admin'], message }]
}

/** The valid expressions of a template. The problems of the others go to `problems`. */
function templateExpressions(
  text: string,
  place: Place,
  path: PropertyKey[],
  wanted: Wanted,
  problems: FieldProblem[],
): string[] {
  const parsed = parseTemplate(text)
  if (!parsed.ok) {
    problems.push({ path, message: parsed.problem })
    return []
  }
  return parsed.parts.flatMap((part) => {
    if (typeof part === 'string') return []
    const message = expressionProblem(part.expression, place, wanted)
    if (message === undefined) return [part.expression]
    problems.push({ path, message })
    return []
  })
}

function templateProblems(text: string | undefined, place: Place, path: PropertyKey[]): FieldProblem[] {
  const problems: FieldProblem[] = []
  if (text !== undefined) templateExpressions(text, place, path, 'part', problems)
  return problems
}

function isOneExpression(text: string): boolean {
  const parsed = parseTemplate(text)
  return parsed.ok && parsed.parts.length === 1 && typeof parsed.parts[0] === 'object'
}

function headerProblems(headers: RequestOptions['headers'], path: PropertyKey[]): FieldProblem[] {
  return Object.entries(headers ?? {}).flatMap(([name, value]) => {
    if (typeof value !== 'string' || isOneExpression(value)) return []
    if (!looksSecret(name) && !looksLikeCredentials(value)) return []
    return [{ path: [...path, name], message: `holds a secret in the config\n${SECRET_WAY_OUT}` }]
  })
}

function hasSecret(headers: RequestOptions['headers']): boolean {
  return Object.values(headers ?? {}).some((value) => typeof value !== 'string')
}

/** The problems of secrets over plain HTTP. A host with an expression is known only at the request: see request.ts. */
function plainHttpProblems(options: HttpOptions): FieldProblem[] {
  const { url, auth, login, failover, headers, targets, inspect, drain, restore } = options
  const isCommon = auth !== undefined || login !== undefined || hasSecret(headers)
  const reads = [targets.request, inspect?.request, ...Object.values(inspect?.also ?? {}), failover?.request]
  const writes = (['drain', 'restore'] as const).flatMap((effect) =>
    requestsOf(options[effect]).map((request, index) => ({
      request,
      path: Array.isArray(options[effect]) ? [effect, index, 'url'] : [effect, 'url'],
    })),
  )
  const anySecret = isCommon || [...reads, ...requestsOf(drain), ...requestsOf(restore)].some((one) => hasSecret(one?.headers))
  const urls = [
    { path: ['url'], place: url, isSecret: anySecret },
    ...(failover?.urls ?? []).map((place, index) => ({ path: ['failover', 'urls', index], place, isSecret: anySecret })),
    ...writes.map(({ request, path }) => ({ path, place: request.url, isSecret: isCommon || hasSecret(request.headers) })),
  ]
  return urls.flatMap(({ path, place, isSecret }) => {
    if (!isSecret || place === undefined || place.includes('${') || !isPlainElsewhere(place)) return []
    return [{ path, message: `would send credentials over plain HTTP to ${new URL(place).host}\n${PLAIN_HTTP_WAY_OUT}` }]
  })
}

/** The path with `\0` for each expression. Undefined if the template is invalid. */
function literalPath(text: string): string | undefined {
  const parsed = parseTemplate(text)
  return parsed.ok ? parsed.parts.map((part) => (typeof part === 'string' ? part : '\0')).join('') : undefined
}

function pathProblems(text: string, path: PropertyKey[]): FieldProblem[] {
  const literal = literalPath(text) ?? ''
  const strange = /[^\0!$%&'()*+,\-./:;=?@\w~]/.exec(literal)?.[0]
  if (strange !== undefined)
    return [{ path, message: `${JSON.stringify(strange)} cannot stand in a path\nwrite it as ${encodeURIComponent(strange)}` }]
  const [, query = ''] = /\?(.*)$/s.exec(literal) ?? []
  for (const parameter of query.split('&')) {
    const [name = '', value = ''] = parameter.split('=')
    if (looksSecret(name) && value !== '' && value !== '\0') {
      return [{ path, message: `holds a secret: ${name}\nsend it as a header, from a file or the environment` }]
    }
  }
  return []
}

/** The fields of a body with the name of a secret and a literal value. */
function bodyProblems(body: Json, path: PropertyKey[]): FieldProblem[] {
  return bodyStrings(body).flatMap(({ text, path: inner }) => {
    if (!looksSecret(String(inner.at(-1))) || isOneExpression(text)) return []
    return [{ path: [...path, ...inner], message: 'holds a secret\nsend it as a header, from a file or the environment' }]
  })
}

/** All problems of one request. Its valid expressions are added to `expressions`. */
function requestProblems(request: RequestOptions, place: Place, path: PropertyKey[], expressions: string[] = []): FieldProblem[] {
  const problems = [
    ...pathProblems(request.path, [...path, 'path']),
    ...('url' in request ? templateProblems(request.url, place, [...path, 'url']) : []),
    ...headerProblems(request.headers, [...path, 'headers']),
    ...bodyProblems(request.body ?? null, [...path, 'body']),
  ]
  const check = (text: string, at: PropertyKey[]) => {
    const wanted = at.includes('body') && isOneExpression(text) ? 'json' : 'part'
    expressions.push(...templateExpressions(text, place, [...path, ...at], wanted, problems))
  }
  check(request.path, ['path'])
  for (const [name, value] of Object.entries(request.headers ?? {}))
    if (typeof value === 'string') check(value, ['headers', name])
  for (const { text, path: inner } of bodyStrings(request.body ?? null)) check(text, ['body', ...inner])
  return problems
}

const REST_ON: Record<'client-token' | 'cas', { names: string[]; problem: string }> = {
  'client-token': {
    names: ['operation'],
    problem:
      'does not send the operation id that capabilities.idempotency promises\nadd a header such as Idempotency-Key: ${operation.id}',
  },
  cas: {
    names: ['entry', 'body', 'headers'],
    problem: 'does not send the version that capabilities.idempotency promises\nadd a header such as If-Match: ${headers.etag}',
  },
}

function effectProblems(options: HttpOptions, effect: 'drain' | 'restore'): FieldProblem[] {
  const { idempotency } = options.capabilities
  const place = effectPlace(options, effect)
  const requests = requestsOf(options[effect])
  return requests.flatMap((request, index) => {
    const path = Array.isArray(options[effect]) ? [effect, index] : [effect]
    const expressions: string[] = []
    const isOtherProtocol = request.url !== undefined && protocolOf(request.url) !== protocolOf(options.url)
    const protocol = {
      path: [...path, 'url'],
      message: 'is of another protocol than url\nwrite both with http, or both with https',
    }
    const problems = [
      ...(isOtherProtocol ? [protocol] : []),
      ...requestProblems(request, place, path, expressions),
      ...whenProblems(request.when, place, [...path, 'when'], index === requests.length - 1),
    ]
    if (idempotency === 'absolute-set' || problems.length > 0) return problems
    const { names, problem } = REST_ON[idempotency]
    if (expressions.some((expression) => usesVariable(expression, place, names))) return problems
    return [{ path, message: problem }]
  })
}

function whenProblems(when: string | undefined, place: Place, path: PropertyKey[], isLast: boolean): FieldProblem[] {
  if (when === undefined) {
    const message = 'is missing\nthe first request of which it is true is sent: only the last one can do without'
    return isLast ? [] : [{ path, message }]
  }
  const message = expressionProblem(when, place, 'flag')
  return message === undefined ? [] : [{ path, message }]
}

function protocolOf(url: string): string {
  return url.split(':', 1)[0]!.toLowerCase()
}

function shapeProblems({ url, auth, login, failover, tls, targets, inspect, capabilities }: HttpOptions): FieldProblem[] {
  const problems: FieldProblem[] = []
  const says = (path: PropertyKey[], message: string) => problems.push({ path, message })
  if (targets.request === undefined) {
    if (targets.each !== undefined) says(['targets', 'each'], 'needs targets.request\nit is a list in the answer to it')
    if (targets.address !== undefined)
      says(['targets', 'address'], 'needs targets.request\nwithout a list, the pod’s own address counts')
    if (inspect !== undefined && inspect.request === undefined) {
      says(['inspect'], 'asks for nothing\ngive it a request, or give targets one that lists the entries')
    }
  } else if (targets.address === undefined) {
    says(['targets', 'address'], 'is missing\nwrite CEL that gives host:port of an entry, such as entry.address')
  }
  if (inspect?.entry !== undefined && inspect.request === undefined) says(['inspect', 'entry'], 'needs inspect.request')
  if (inspect?.missing !== undefined && (inspect.request !== undefined || targets.request === undefined))
    says(['inspect', 'missing'], 'needs targets.request, and no inspect.request\nit is the list that an entry is missing in')
  if (login !== undefined && auth !== undefined) says(['login'], 'cannot stand beside auth\nremove one of the two')
  for (const [index, other] of (failover?.urls ?? []).entries())
    if (protocolOf(other) !== protocolOf(url)) says(['failover', 'urls', index], `is not ${protocolOf(url)}, as url is`)
  if (inspect === undefined && capabilities.idempotency !== 'absolute-set') {
    says(['capabilities', 'idempotency'], `${capabilities.idempotency} needs inspect\nwithout reading back, the guarantee is G0`)
  }
  const settle = parseDuration(capabilities.settle)
  if (inspect !== undefined && capabilities.inspect === 'eventual' && settle.ok && settle.ms === 0) {
    says(['capabilities', 'settle'], 'is 0s, and what is read is behind\nwrite how long it may be behind, such as 5s')
  }
  const job = parseDuration(capabilities.longestJob)
  if (job.ok && job.ms === 0) says(['capabilities', 'longestJob'], 'is 0s\nwrite the longest that a change may take, such as 30s')
  if (inspect === undefined && capabilities.longestJob !== undefined) {
    says(['capabilities', 'longestJob'], 'needs inspect\nonly reading back shows that a job is done; settle waits without it')
  }
  if (tls !== undefined && !url.startsWith('https:')) says(['tls'], 'needs an https url')
  return problems
}

export function checkFields(options: HttpOptions): FieldProblem[] {
  const { targets, inspect, headers, login, failover } = options
  const alsoPlace = inspect?.request === undefined ? 'nothing' : 'question'
  return [
    ...shapeProblems(options),
    ...(options.allowPlainHttp ? [] : plainHttpProblems(options)),
    ...headerProblems(headers, ['headers']),
    ...Object.entries(headers ?? {}).flatMap(([name, value]) => {
      return typeof value === 'string' ? templateProblems(value, 'nothing', ['headers', name]) : []
    }),
    ...(targets.request === undefined ? [] : requestProblems(targets.request, 'nothing', ['targets', 'request'])),
    ...(inspect?.request === undefined ? [] : requestProblems(inspect.request, 'question', ['inspect', 'request'])),
    ...Object.entries(inspect?.also ?? {}).flatMap(([name, one]) => requestProblems(one, alsoPlace, ['inspect', 'also', name])),
    ...(login === undefined ? [] : requestProblems(login.request, 'login', ['login', 'request'])),
    ...(failover === undefined ? [] : requestProblems(failover.request, 'nothing', ['failover', 'request'])),
    ...expressionProblems(options),
    ...adminProblems(options),
    ...effectProblems(options, 'drain'),
    ...effectProblems(options, 'restore'),
  ]
}
