/** An object that is no EndpointSlice or Endpoints object of the API server. `field` names the field that is wrong. */
export class ObjectError extends Error {
  override readonly name = 'ObjectError'
  readonly component = 'webhook'
  readonly field: string
  constructor(field: string, message: string, options: { cause?: unknown } = {}) {
    super(`${field === '' ? 'the object' : field} ${message}`, options)
    this.field = field
  }
}
