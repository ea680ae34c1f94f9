/** The Query protocol of AWS: requests as forms, which the model in the SDK validates, and answers as XML. */

/** The exports of an SDK client. `RegisterTargets$` is the schema of that operation. */
export type SdkModel = Readonly<Record<string, unknown>>

export interface QueryRequest {
  action: string
  input: Record<string, unknown>
}

/** The error for a request that the model does not allow. */
export class QueryError extends Error {
  override readonly name = 'QueryError'
}

/* The kinds of schemas by their numbers in the SDK. A simple schema is a number; any other schema is an array that starts with a number. */
const STRING = 0
const NUMBER = 1
const BOOLEAN = 2
const LIST_OF = 64
const LIST = 1
const STRUCTURE = 3
const OPERATION = 9

/** The fields of a structure: kind, namespace, name, traits, names of the members, their schemas, and the number of required members. */
type Structure = [number, string, string, unknown, string[], unknown[], number?]
type Operation = [number, string, string, unknown, unknown, unknown]
type Form = ReadonlyMap<string, string>

/** @throws QueryError */
export function readQuery(model: SdkModel, text: string, version: string): QueryRequest {
  const form = new Map(new URLSearchParams(text))
  const action = form.get('Action') ?? ''
  if (form.get('Version') !== version) throw new QueryError(`the version is ${form.get('Version')}, not ${version}`)
  const operation = plain(model[`${action}$`]) as Operation | undefined
  if (operation?.[0] !== OPERATION) throw new QueryError(`there is no operation ${action}`)
  form.delete('Action')
  form.delete('Version')
  const used = new Set<string>()
  const input = readStructure(plain(operation[4]) as Structure, '', form, used)
  const unknown = [...form.keys()].filter((key) => !used.has(key))
  if (unknown.length > 0) throw new QueryError(`${action} has no ${unknown.join(', ')}`)
  return { action, input }
}

/** The bare schema. A schema can be plain, a function that gives it, or a pair with the traits of the member. */
function plain(schema: unknown): unknown {
  if (typeof schema === 'function') return plain((schema as () => unknown)())
  const isMember = Array.isArray(schema) && schema.length === 2
  return isMember ? plain(schema[0]) : schema
}

function readStructure([, , name, , members, schemas, required = 0]: Structure, prefix: string, form: Form, used: Set<string>) {
  const value: Record<string, unknown> = {}
  members.forEach((member, index) => {
    const key = prefix === '' ? member : `${prefix}.${member}`
    const isThere = [...form.keys()].some((one) => one === key || one.startsWith(`${key}.`))
    if (isThere) value[member] = readValue(plain(schemas[index]), key, form, used)
    else if (index < required) throw new QueryError(`${name} lacks ${member}`)
  })
  return value
}

function readValue(schema: unknown, key: string, form: Form, used: Set<string>): unknown {
  if (Array.isArray(schema) && schema[0] === STRUCTURE) return readStructure(schema as Structure, key, form, used)
  if (Array.isArray(schema) && schema[0] === LIST) return readList(plain(schema[4]), key, form, used)
  if (typeof schema !== 'number') throw new QueryError(`${key} is of a kind that is not read here`)
  if (schema >= LIST_OF) return readList(schema - LIST_OF, key, form, used)
  const text = form.get(key)
  if (text === undefined) throw new QueryError(`${key} is no simple value`)
  used.add(key)
  if (schema === STRING) return text
  if (schema === NUMBER && /^-?\d+$/.test(text)) return Number(text)
  if (schema === BOOLEAN && /^(true|false)$/.test(text)) return text === 'true'
  throw new QueryError(`${key} is ${JSON.stringify(text)}`)
}

function readList(schema: unknown, key: string, form: Form, used: Set<string>): unknown[] {
  const values: unknown[] = []
  for (;;) {
    const next = `${key}.member.${values.length + 1}`
    if (![...form.keys()].some((one) => one === next || one.startsWith(`${next}.`))) return values
    values.push(readValue(schema, next, form, used))
  }
}

export function queryAnswer(action: string, namespace: string, result: object): string {
  const body = `<${action}Result>${xmlOf(result)}</${action}Result><ResponseMetadata><RequestId>1</RequestId></ResponseMetadata>`
  return `<${action}Response xmlns="${namespace}">${body}</${action}Response>`
}

export function queryError(code: string, message: string, namespace: string): string {
  const error = xmlOf({ Error: { Type: 'Sender', Code: code, Message: message }, RequestId: '1' })
  return `<ErrorResponse xmlns="${namespace}">${error}</ErrorResponse>`
}

function xmlOf(value: unknown): string {
  if (Array.isArray(value)) return value.map((one) => `<member>${xmlOf(one)}</member>`).join('')
  if (typeof value !== 'object' || value === null)
    return String(value).replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`)
  const parts = Object.entries(value).filter(([, part]) => part !== undefined)
  return parts.map(([name, part]) => `<${name}>${xmlOf(part)}</${name}>`).join('')
}
