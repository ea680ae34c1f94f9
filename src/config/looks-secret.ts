/** Such a value belongs in a file or the environment; where someone wrote it here, it must not reach a log as well. */
export function looksSecret(path: readonly PropertyKey[]): boolean {
  return path.some((key) => /auth|pass|secret|token|credential|cookie|^headers$|(api|access|private)[-_]?key/i.test(String(key)))
}
