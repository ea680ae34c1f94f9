import { worded } from '../../report/words/document.ts'
import type { Writing } from '../../report/words/writing.ts'
import { inert, inertJson } from './inert.ts'
import type { Renderer } from './renderer.ts'
import { API_VERSION } from './api-version.ts'
import { planFields } from './plan-fields.ts'
import { nextCommands } from './summary.ts'

interface Output {
  write(text: string): void
}

/** Prints one document on stdout when the run is over. Meanwhile, `progress` shows the run on stderr. */
export function createJson({ out, progress, write }: { out: Output; progress: Renderer; write: Writing }): Renderer {
  return {
    onEvent: progress.onEvent,
    notice: progress.notice,
    finish: (report) => {
      progress.finish(report)
      out.write(`${inertJson(worded(report, write), 2)}\n`)
    },
    close: progress.close,
  }
}

/** Prints each event as a line of JSON when it happens, and the report as the last line. */
export function createJsonLines({ out, err, write }: { out: Output; err: Output; write: Writing }): Renderer {
  const line = (document: object): string => `${inertJson(worded(document, write))}\n`
  return {
    onEvent(event) {
      const told = event.type === 'planned' ? { ...event, plan: planFields(event.plan) } : event
      out.write(line({ apiVersion: API_VERSION, kind: 'RunEvent', ...told }))
    },
    notice: (text) => err.write(`${inert(text)}\n`),
    finish: (report) => {
      out.write(line(report))
      for (const { heading, commands } of nextCommands(report)) err.write(`${[heading, ...commands].join('\n  ')}\n`)
    },
    close: () => {},
  }
}
