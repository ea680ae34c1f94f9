#!/usr/bin/env node
// Nothing but node core is loaded before the compile cache is on: what comes later is compiled once per machine.
import { enableCompileCache } from 'node:module'

enableCompileCache()
void import('./main.ts').then(({ main }) => main(process.argv))
