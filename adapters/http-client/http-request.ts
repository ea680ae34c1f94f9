export interface HttpRequest {
  method: string
  /** Added to the address of the API. */
  path: string
  /** The address, where it is another one than that of all requests. */
  baseUrl?: string
  headers: Record<string, string>
  body: string | undefined
  /** The statuses that mean success. */
  expect: readonly number[] | undefined
  /** What must not be seen in any message. */
  secrets: string[]
}
