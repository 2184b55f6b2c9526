import { expect, test } from 'vitest'
import { withPages } from '../../../server/connections/request/graphql-pages.ts'
import { odataSchema } from '../../../server/rows/index.ts'

test.each([
  [
    '{ issues { nodes { id } } }',
    ['issues'],
    'query ($after: String) { issues(after: $after) { nodes { id }  pageInfo { hasNextPage endCursor } } }',
  ],
  [
    'query Open($team: ID!) { team(id: $team) { open: issues(first: 50, filter: {state: "a)b"}) { edges { node { id } } } } }',
    ['team', 'open'],
    'query Open($team: ID!, $after: String) { team(id: $team) { open: issues(first: 50, filter: {state: "a)b"}, after: $after) { edges { node { id } }  pageInfo { hasNextPage endCursor } } } }',
  ],
  [
    'query All { repository { ... on Repository @include(if: true) { issues(first: 5) { nodes { id } pageInfo { endCursor } } } } }',
    ['repository', 'issues'],
    'query All($after: String) { repository { ... on Repository @include(if: true) { issues(first: 5, after: $after) { nodes { id } pageInfo { endCursor  hasNextPage } } } } }',
  ],
  [
    '# all { of } it\n{ a { ...Rest b { nodes { id } } } }\nfragment Rest on A { c }',
    ['a', 'b'],
    '# all { of } it\nquery ($after: String) { a { ...Rest b(after: $after) { nodes { id }  pageInfo { hasNextPage endCursor } } } }\nfragment Rest on A { c }',
  ],
])('%s asks for its pages', (query, path, expected) => {
  expect(withPages(query, path)).toEqual({ query: expected, variable: 'after' })
})

test.each([
  ['{ issues(after: "x") { nodes { id } } }', ['issues']],
  ['{ issues(last: 5) { nodes { id } } }', ['issues']],
  ['{ other { nodes { id } } }', ['issues']],
  ['{ issues }', ['issues']],
  ['mutation { issues { nodes { id } } }', ['issues']],
  ['{ issues { nodes { id }', ['issues']],
  ['', ['issues']],
  ['{'.repeat(60_000), ['issues']],
  ['{ ... '.repeat(10_000), ['issues']],
  [`{ ${'a { '.repeat(10_000)}`, ['a']],
  ['"""'.repeat(20_000), ['a']],
])('a query that cannot be written so stays as it is', (query, path) => {
  const begun = performance.now()
  expect(withPages(query, path)).toBeNull()
  expect(performance.now() - begun).toBeLessThan(500)
})

test('a query that has a variable of the name is given another', () => {
  const query = 'query ($after: Int) { a(n: $after) { nodes { id } } }'
  expect(withPages(query, ['a'], 'Cursor')).toMatchObject({
    variable: 'afterCursor',
    query: expect.stringContaining('$afterCursor: Cursor'),
  })
})

const metadata = `<?xml version="1.0"?><edmx:Edmx Version="4.0" xmlns:edmx="x"><edmx:DataServices>
<Schema Namespace="Shop.Model" Alias="Self" xmlns="y">
  <EntityType Name="Thing" Abstract="true"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Guid"/></EntityType>
  <EntityType Name="Order" BaseType="Self.Thing">
    <Property Name="Total" Type="Edm.Decimal" Precision="12" Scale="2"/><Property Name="Any" Type="Edm.Decimal" Scale="variable"/>
    <Property Name="At" Type="Edm.DateTimeOffset"/><Property Name="Lines" Type="Collection(Self.Line)"/>
  </EntityType>
  <EntityContainer Name="All"><EntitySet Name="Orders" EntityType="Shop.Model.Order"/></EntityContainer>
</Schema></edmx:DataServices></edmx:Edmx>`

test('metadata of OData say key and types, also of a type below', () => {
  expect(odataSchema(metadata, 'Orders')).toEqual({
    key: ['ID'],
    columns: [
      { name: 'ID', type: 'VARCHAR' },
      { name: 'Total', type: 'DECIMAL(12,2)' },
    ],
  })
  expect(odataSchema(metadata, 'Others')).toBeNull()
  expect(odataSchema('<a><b>', 'Orders')).toBeNull()
})
