import { z } from 'zod'
import type { ReportFailure } from './report.ts'

const Failures = z.array(
  z.object(
    {
      at: z.iso.datetime({ offset: true, error: 'must be a time such as "2026-11-21T10:17:53Z"' }),
      pod: z.string('must be text, such as "web-1"').optional(),
      kind: z.string('must be text, such as "503"'),
      detail: z.string('must be text').optional(),
    },
    'must be an object such as {"at": "2026-11-21T10:17:53Z", "kind": "503"}',
  ),
  'must be a list such as [{"at": "2026-11-21T10:17:53Z", "kind": "503"}]',
)
const MOST_PROBLEMS = 3

/** Reads failures such as `[{"at": "2026-11-21T10:17:53Z", "kind": "503", "pod": "web-1"}]`. Throws an Error that names the problem. */
export function parseFailures(text: string): ReportFailure[] {
  const parsed = Failures.safeParse(parseJson(text))
  if (!parsed.success) {
    const problems = parsed.error.issues.slice(0, MOST_PROBLEMS).map(({ path, message }) => `${place(path)}${message}`)
    throw new Error(problems.join('; '))
  }
  // Times get one notation, so that they sort together with those of the run.
  return parsed.data.map(({ at, pod, kind, detail }) => ({
    at: new Date(at).toISOString(),
    ...(pod === undefined ? {} : { pod }),
    kind,
    ...(detail === undefined ? {} : { detail }),
  }))
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`is not JSON: ${(error as Error).message}`, { cause: error })
  }
}

/** The position of a problem in the list, such as `[0].at `. */
function place([index, key]: readonly PropertyKey[]): string {
  if (index === undefined) return ''
  return key === undefined ? `[${String(index)}] ` : `[${String(index)}].${String(key)} `
}
