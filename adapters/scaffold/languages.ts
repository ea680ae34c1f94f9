/** The languages for a new plugin. The files of each language are in `templates/`. */
export interface Language {
  /** The file of the plugin. */
  plugin: string
  /** The steps before the first test. */
  install: string
  /** The software that the language needs besides Node. */
  needs: string
}

const PACKAGE = 'Once: `npm install`. Then'
const NO_PACKAGE = 'Nothing is to be built.'

export const languages = {
  ts: {
    plugin: 'lb.ts',
    install: PACKAGE,
    needs: 'Node runs `lb.ts` as it is: use only TypeScript that can be erased, no `enum`.',
  },
  js: { plugin: 'lb.mjs', install: PACKAGE, needs: 'It needs Node, and no build.' },
  python: { plugin: 'lb.py', install: NO_PACKAGE, needs: '`lb.py` needs Python 3.8 or newer, and no package.' },
  sh: { plugin: 'lb.sh', install: NO_PACKAGE, needs: '`lb.sh` needs curl and jq (`apt-get install curl jq`).' },
} as const satisfies Record<string, Language>

export type LanguageName = keyof typeof languages

export const languageNames = Object.keys(languages) as LanguageName[]
