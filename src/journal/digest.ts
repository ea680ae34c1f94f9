/**
 * Returns 32 bits of FNV-1a as eight hexadecimal digits. The digest tells texts apart, and does not protect against deliberate changes.
 */
export function digest(text: string): string {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, '0')
}
