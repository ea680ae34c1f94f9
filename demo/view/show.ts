import type { Act, Stage } from '../acts/act.ts'
import type { ActResult } from '../acts/result.ts'
import { comparison } from './comparison.ts'
import { createLines } from './lines.ts'
import { createLiveView } from './live.ts'
import { furtherPages } from './pages.ts'
import { legend, pictureOf, requestsOf } from './picture.ts'
import type { View, ViewDeps } from './view.ts'

/** The output of the demo. */
export interface Show {
  preparing(pods: number): void
  ready(stage: Stage): void
  /** Begins an act, and returns the function to call while the act proceeds. */
  begin(number: number, act: Act): (result: ActResult) => void
  end(result: ActResult): void
  conclude(results: readonly ActResult[], faults: readonly string[], report: string | undefined): void
  /** Ends the output of an act. */
  close(): void
}

export interface ShowDeps extends ViewDeps {
  /** True where the terminal can be redrawn. */
  isLive: boolean
}

export function createShow({ isLive, ...deps }: ShowDeps): Show {
  const { out, colors } = deps
  let view: View | undefined
  /** True where lines of the act precede its picture, which needs a distance then. */
  let hasLines = false
  const say = (...lines: readonly string[]): void => out.write(`${lines.join('\n')}\n`)

  function close(): void {
    view?.close()
    view = undefined
  }

  return {
    preparing: (pods) => say(`Starting ${pods} pods, each a process of this machine …`),
    ready: ({ cluster, balancer }) =>
      say(
        `${cluster.pods.length} pods run behind ${balancer.title}; 100 requests a second go through it, and nobody repeats one.`,
        'All pods are brought to a new image, three times, each time in another way.',
        '',
        legend(colors),
      ),
    begin(number, act) {
      say('', colors.bold(`Act ${number}: ${act.name}`), act.about, '')
      hasLines = act.showsItself || !isLive
      if (!act.showsItself) view = isLive ? createLiveView(deps) : createLines(deps)
      return (result) => view?.update(result)
    },
    end(result) {
      view?.end(result)
      close()
      say(...(hasLines ? [''] : []), ...pictureOf(result, colors), `  ${requestsOf(result)}`)
    },
    conclude(results, faults, report) {
      say('', ...comparison(results).map((line, index) => (index === 0 ? colors.dim(line) : line)))
      say(colors.dim('Below each pod: how often it was drained / restored. Flips: what is beyond once.'), '')
      if (faults.length === 0) say(colors.green('sluice: no request failed; one drain and one restore for each pod.'))
      else say(...faults.map((fault) => colors.red(`sluice: ${fault}`)))
      say('', 'Where to look next:')
      if (report !== undefined) {
        const how = /\.html$/i.test(report) ? ': open it in a browser' : ''
        say(`  ${report}`, `      what sluice did in act 3, pod by pod${how}; it stays until you remove it`)
      }
      for (const { file, about } of furtherPages()) say(`  ${file}`, `      ${about}`)
    },
    close,
  }
}
