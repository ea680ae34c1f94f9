import { inert, inertJson } from './inert.ts'
import type { Renderer } from './renderer.ts'
import { API_VERSION } from './api-version.ts'
import { nextCommands } from './summary.ts'

interface Output {
  write(text: string): void
}

/** One document on stdout when the run is over; meanwhile `progress` tells a person on stderr. */
export function createJson({ out, progress }: { out: Output; progress: Renderer }): Renderer {
  return {
    onEvent: progress.onEvent,
    notice: progress.notice,
    finish: (report) => {
      progress.finish(report)
      out.write(`${inertJson(report, 2)}\n`)
    },
    close: progress.close,
  }
}

/** Each event as a line of JSON when it happens, and the report as the last one. */
export function createJsonLines({ out, err }: { out: Output; err: Output }): Renderer {
  return {
    onEvent: (event) => out.write(`${inertJson({ apiVersion: API_VERSION, kind: 'RunEvent', ...event })}\n`),
    notice: (text) => err.write(`${inert(text)}\n`),
    finish: (report) => {
      out.write(`${inertJson(report)}\n`)
      for (const { heading, commands } of nextCommands(report)) err.write(`${[heading, ...commands].join('\n  ')}\n`)
    },
    close: () => {},
  }
}
