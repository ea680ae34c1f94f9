/**
 * True for the path of a secret. A secret belongs in a file or the environment, but if it is written in the config, it must not reach a
 * log.
 */
export function looksSecret(path: readonly PropertyKey[]): boolean {
  return path.some((key) => /auth|pass|secret|token|credential|cookie|^headers$|(api|access|private)[-_]?key/i.test(String(key)))
}
