import { Hono } from 'hono'
import { boundBody } from './bound-body.ts'

/** The reason why a server is not ready: a code, and the fields of that code. */
export interface NotReady {
  readonly code: string
}

/** The metrics in the text format of Prometheus. */
export interface MetricsText {
  contentType: string
  text(): Promise<string>
}

export interface AppOptions {
  /** Returns the reasons why the server is not ready, or none. */
  notReady(): readonly NotReady[]
  metrics?: MetricsText | undefined
  /** Adds further routes. */
  routes?: ((app: Hono) => void) | undefined
  largestBodyBytes: number
  /** Called where a handler throws. The client gets 500 without the reason. */
  failed(path: string, error: unknown): void
}

/** Creates the application with health, readiness, metrics and further routes. Errors are `{"code": "…"}`. */
export function createApp({ notReady, metrics, routes, largestBodyBytes, failed }: AppOptions): Hono {
  const app = new Hono()
  app.use(boundBody(largestBodyBytes))
  app.get('/livez', (context) => context.text('ok'))
  app.get('/readyz', (context) => {
    const because = notReady()
    return context.json({ ready: because.length === 0, because }, because.length === 0 ? 200 : 503)
  })
  if (metrics !== undefined)
    app.get('/metrics', async (context) => context.body(await metrics.text(), 200, { 'content-type': metrics.contentType }))
  routes?.(app)
  app.notFound((context) => context.json({ code: 'not-found' }, 404))
  app.onError((error, context) => {
    failed(context.req.path, error)
    return context.json({ code: 'internal-error' }, 500)
  })
  return app
}
