import { expect, test } from 'vitest'
import { nextPageSign } from './next-page.ts'

test.each([
  { body: { items: [], nextPageToken: 'abc' }, sign: 'body.nextPageToken says so' },
  { body: { items: [], next: '/servers?page=2' }, sign: 'body.next says so' },
  { body: { items: [], next_page: 2 }, sign: 'body.next_page says so' },
  { body: { items: [], has_more: true }, sign: 'body.has_more says so' },
  { body: { items: [], metadata: { continue: 'eyJ2' } }, sign: 'body.metadata.continue says so' },
  { body: { _links: { next: { href: '/servers?page=2' } } }, sign: 'body._links.next says so' },
  { body: { value: [], '@odata.nextLink': 'https://lb/servers?$skip=20' }, sign: 'body.@odata.nextLink says so' },
  { body: [], link: '</servers?page=2>; rel="next", </servers?page=9>; rel="last"', sign: 'its header Link has rel="next"' },
  { body: [], link: '</servers?page=2>; rel=next', sign: 'its header Link has rel="next"' },
])('another page follows: $sign', ({ body, link, sign }) => {
  expect(nextPageSign({ body, headers: link === undefined ? {} : { link } })).toBe(sign)
})

test.each([
  { body: { items: [], nextPageToken: '' } },
  { body: { items: [], next: null, has_more: false } },
  { body: { items: [], metadata: { continue: '', resourceVersion: '7' } } },
  // A field of an entry says nothing about the list.
  { body: { items: [{ next: 'web-1' }], other: { next: 'web-1' } } },
  { body: [{ next: 'web-1' }] },
  { body: null },
  { body: [], link: '</servers?page=1>; rel="prev"' },
  { body: [], link: '</servers/next>; rel="self"' },
])('the last page, or the only one: %j', ({ body, link }) => {
  expect(nextPageSign({ body, headers: link === undefined ? {} : { link } })).toBeUndefined()
})
