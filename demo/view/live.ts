import { createFrame } from '../../src/cli/output/frame.ts'
import { pictureOf, requestsOf } from './picture.ts'
import type { View, ViewDeps } from './view.ts'

/** The view on a terminal: the picture of the act, redrawn as the act proceeds. */
export function createLiveView({ out, colors }: ViewDeps): View {
  const frame = createFrame(out)
  return {
    update(result) {
      // A terminal that does not keep up gets the next frame instead of all of them.
      if (out.backlog > 0) return
      const seconds = Math.floor((result.endedAt - result.startedAt) / 1_000)
      frame.draw([...pictureOf(result, colors), `  ${requestsOf(result)}, ${seconds} s`].join('\n'))
    },
    end() {},
    close: () => frame.clear(),
  }
}
