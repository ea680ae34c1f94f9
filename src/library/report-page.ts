import { reportPage as page } from '../report/html/page.ts'
import type { Report } from '../report/report.ts'
import { createWriting } from '../report/words/words.ts'

/** A report as one self-contained HTML file, as `--report FILE.html` writes it. */
export function reportPage(report: Report): string {
  return page(report, createWriting())
}
