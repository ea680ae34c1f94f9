import { expect, test } from 'vitest'
import { readSelector } from './label-selector.ts'

test.each([
  ['app=web', ['app']],
  ['app==web,tier!=cache', ['app', 'tier']],
  [' app = web , !canary ', ['app', 'canary']],
  ['! canary', ['canary']],
  ['app', ['app']],
  ['app=', ['app']],
  ['a!=,b', ['a', 'b']],
  ['app in (web, api)', ['app']],
  ['app in(web)', ['app']],
  ['app notin (,)', ['app']],
  ['app in ()', ['app']],
  ['app in (web,)', ['app']],
  ['app in (,web)', ['app']],
  ['app in (a,,b)', ['app']],
  ['in in (in)', ['in']],
  ['notin', ['notin']],
  ['a=in,b=notin', ['a', 'b']],
  ['app.kubernetes.io/name=web-1.2_3', ['app.kubernetes.io/name']],
  ['generation>3,generation<7', ['generation', 'generation']],
  [`a=${'x'.repeat(63)}`, ['a']],
])('%s is one', (text, labels) => {
  expect(readSelector(text)).toEqual({ labels })
})

test.each([
  ['a=b=c', '"=" stands where a comma must be'],
  ['!!', '"!" stands where the name of a label must be'],
  ['app in (web', 'it ends where a comma or ")" must be'],
  ['app in (web api)', '"api" stands where a comma or ")" must be'],
  ['app in web', '"web" stands where "(" must be'],
  ['app in (a,', 'it ends where a value or ")" must be'],
  ['app in (a=b)', '"=" stands where a comma or ")" must be'],
  ['app web', '"web" stands where =, !=, in, notin or a comma must be'],
  ['app=web,', 'it ends where the name of a label must be'],
  [',app', '"," stands where the name of a label must be'],
  ['=web', '"=" stands where the name of a label must be'],
  ['!app=web', '"=" stands where a comma must be'],
  ['app=-web', '"-web" cannot be the value of a label'],
  ['app in (we/b)', '"we/b" cannot be the value of a label'],
  ['App.io/a/b', '"App.io/a/b" cannot be the name of a label'],
  ['App.io/a', '"App.io/a" cannot be the name of a label'],
  [`a=${'x'.repeat(64)}`, `"${'x'.repeat(64)}" cannot be the value of a label`],
  ['a>b', '> compares with a whole number, and not with "b"'],
  ['a<-7', '< compares with a whole number, and not with "-7"'],
])('%s is none', (text, problem) => {
  expect(readSelector(text)).toEqual({ problem })
})
