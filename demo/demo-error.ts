/** The demo cannot run here, for a reason that its user can mend. */
export class DemoError extends Error {
  override readonly name = 'DemoError'
  readonly component = 'demo'
}
