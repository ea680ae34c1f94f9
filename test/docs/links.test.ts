import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { pages, ROOT, type Page } from './pages.ts'

/** As GitHub makes the anchor of a heading. */
function anchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')
}

function anchors(file: string): string[] {
  const prose = readFileSync(file, 'utf8').replace(/^```[\s\S]*?^```$/gm, '')
  return [...prose.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchor(heading!))
}

/** Links of a page that lead nowhere. */
function brokenLinks({ file, text }: Page): string[] {
  const prose = text.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`/g, '')
  const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!)
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false
    const [path = '', fragment] = link.split('#')
    const target = path === '' ? join(ROOT, file) : resolve(ROOT, dirname(file), path)
    if (!existsSync(target)) return true
    return fragment !== undefined && !anchors(target).includes(fragment)
  })
}

test.each(pages())('every link of $file leads somewhere', (page) => {
  expect(brokenLinks(page)).toEqual([])
})

test('a link that leads nowhere is found', () => {
  const text = '[a](LICENSE) [b](docs/none.md) [c](README.md#no-such-heading) [d](https://example.com)'
  expect(brokenLinks({ file: 'README.md', text })).toEqual(['docs/none.md', 'README.md#no-such-heading'])
})
