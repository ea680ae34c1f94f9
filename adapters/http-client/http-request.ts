export interface HttpRequest {
  method: string
  /** The path. It follows the base URL of the API. */
  path: string
  /** The base URL, if it is not the common one. */
  baseUrl?: string
  headers: Record<string, string>
  body: string | undefined
  /** The statuses that mean success. Undefined: 200 to 299. */
  expect: readonly number[] | undefined
  /** Secrets that no message may show. */
  secrets: string[]
}
