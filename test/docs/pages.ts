import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const ROOT = resolve(import.meta.dirname, '../..')

export interface Page {
  /** From the root of the repository. */
  file: string
  text: string
}

export function page(file: string): Page {
  return { file, text: readFileSync(join(ROOT, file), 'utf8') }
}

/** Everything written for readers: the root's own pages and docs/. */
export function pages(): Page[] {
  const inDocs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
  const files = ['README.md', 'CHANGELOG.md', ...inDocs.filter((file) => file.endsWith('.md')).map((file) => `docs/${file}`)]
  return files.sort().map((file) => page(file))
}

/** The fenced blocks of a page, with the language that each names. */
export function blocks({ text }: Page): { language: string; code: string }[] {
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language, code]) => ({ language: language!, code: code! }))
}

/** Code within sentences. */
export function spans({ text }: Page): string[] {
  const prose = text.replace(/^```[\s\S]*?^```$/gm, '')
  return [...prose.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code!)
}
