/** A field of a parsed JSON value; undefined if the value is no object. */
export function field(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return (value as Record<string, unknown>)[name]
}

export function stringField(value: unknown, name: string): string | undefined {
  const found = field(value, name)
  return typeof found === 'string' ? found : undefined
}

export function numberField(value: unknown, name: string): number | undefined {
  const found = field(value, name)
  return typeof found === 'number' ? found : undefined
}

/** Undefined if the text is no JSON. The parser's message is dropped, because it quotes the text, which may be a Secret. */
export function parseJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}
