import { z } from 'zod'
import type { ReportFailure } from './report.ts'

const Failures = z.array(
  z.object({
    at: z.iso.datetime({ offset: true }),
    pod: z.string().optional(),
    kind: z.string(),
    detail: z.string().optional(),
  }),
)

/** Such as `[{"at": "2026-11-21T10:17:53Z", "kind": "503", "pod": "web-1"}]`. Throws an Error that says what is wrong. */
export function parseFailures(text: string): ReportFailure[] {
  const parsed = Failures.safeParse(JSON.parse(text))
  if (!parsed.success) throw new Error(z.prettifyError(parsed.error))
  // By one clock's notation, so that they sort and stand beside those of the run.
  return parsed.data.map(({ at, pod, kind, detail }) => ({
    at: new Date(at).toISOString(),
    ...(pod === undefined ? {} : { pod }),
    kind,
    ...(detail === undefined ? {} : { detail }),
  }))
}
