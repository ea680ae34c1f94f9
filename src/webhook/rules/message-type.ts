/**
 * Types of the values that rules read. A type declares its fields, so that a wrong field is an error when the rules load. A value is made
 * from an object of the API server; a field of another JSON type than the declared one counts as missing.
 */
export type FieldType =
  | 'string'
  | 'int'
  | 'bool'
  | 'timestamp'
  | 'strings'
  | 'labels'
  | MessageType
  | { readonly list: MessageType }

export interface MessageType {
  readonly name: string
  readonly fields: Readonly<Record<string, FieldType>>
  /** CEL knows the type of a value by its constructor. */
  readonly make: new () => object
}

export function messageType(name: string, fields: Readonly<Record<string, FieldType>>): MessageType {
  return { name, fields, make: newConstructor() }
}

function newConstructor(): new () => object {
  function Value(): void {}
  return Value as unknown as new () => object
}

export function celTypeOf(type: FieldType): string {
  if (type === 'timestamp') return 'google.protobuf.Timestamp'
  if (type === 'strings') return 'list<string>'
  if (type === 'labels') return 'map<string, string>'
  if (typeof type === 'string') return type
  return 'list' in type ? `list<${type.list.name}>` : type.name
}

/** The types within a type, each after the types that it needs. */
export function typesWithin(type: MessageType): MessageType[] {
  const inner = Object.values(type.fields).flatMap((one) => {
    if (typeof one === 'string') return []
    return typesWithin('list' in one ? one.list : one)
  })
  return [...new Set([...inner, type])]
}

type Raw = Readonly<Record<string, unknown>>

function isRaw(value: unknown): value is Raw {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Makes the value of a type. Lists and maps that are missing are empty. */
export function valueOf(type: MessageType, raw: unknown): object {
  const value = new type.make() as Record<string, unknown>
  const source = isRaw(raw) ? raw : {}
  for (const name in type.fields) {
    const made = fieldValue(type.fields[name]!, Object.hasOwn(source, name) ? source[name] : undefined)
    if (made !== undefined) value[name] = made
  }
  return value
}

function fieldValue(type: FieldType, raw: unknown): unknown {
  switch (type) {
    case 'string':
      return typeof raw === 'string' ? raw : undefined
    case 'bool':
      return typeof raw === 'boolean' ? raw : undefined
    case 'int':
      return typeof raw === 'number' && Number.isSafeInteger(raw) ? BigInt(raw) : undefined
    case 'timestamp':
      return timestampOf(raw)
    case 'strings':
      return Array.isArray(raw) ? raw.filter((one) => typeof one === 'string') : []
    case 'labels':
      return isRaw(raw) ? textsOf(raw) : {}
    default:
      if ('list' in type) return Array.isArray(raw) ? raw.map((one) => valueOf(type.list, one)) : []
      return isRaw(raw) ? valueOf(type, raw) : undefined
  }
}

function timestampOf(raw: unknown): Date | undefined {
  if (typeof raw !== 'string') return undefined
  const date = new Date(raw)
  return Number.isNaN(date.getTime()) ? undefined : date
}

function textsOf(raw: Raw): Raw {
  const entries = Object.entries(raw)
  return entries.every(([, value]) => typeof value === 'string')
    ? raw
    : Object.fromEntries(entries.filter(([, value]) => typeof value === 'string'))
}
