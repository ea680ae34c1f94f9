/** Returns the text that a JSON pointer (RFC 6901) names. Undefined where the bytes are no JSON, or hold no text there. */
export function textAt(json: Buffer, pointer: string): string | undefined {
  let value: unknown
  try {
    value = JSON.parse(json.toString('utf8'))
  } catch {
    return undefined
  }
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Record<string, unknown>)[name]
  }
  return typeof value === 'string' ? value : undefined
}
