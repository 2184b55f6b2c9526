/**
 * The data of the built-in sample API. Each day's orders follow from the date alone, so the past never changes, the
 * same day gives the same answer everywhere, and "last month" always has orders in it.
 */

export type Shop = { id: string; name: string; city: string; region: string; country: string; opened_on: string }
export type Product = { id: string; name: string; category: string; price: number; tags: string[] }
export type Order = {
  id: string
  ordered_at: string
  shop_id: string
  product_id: string
  quantity: number
  total: number
  status: string
  customer: { name: string; email: string; country: string }
}

const dayMs = 86_400_000
const days = 730

export const shops: Shop[] = [
  ['Harbour Hall', 'Hamburg', 'north', 'DE', '2016-04-12'],
  ['Lantern Street', 'Copenhagen', 'north', 'DK', '2018-09-01'],
  ['Fjord Corner', 'Oslo', 'north', 'NO', '2020-02-17'],
  ['Old Mill', 'Munich', 'south', 'DE', '2015-06-30'],
  ['Piazza Nuova', 'Milan', 'south', 'IT', '2017-11-23'],
  ['Ramblas', 'Barcelona', 'south', 'ES', '2019-03-08'],
  ['Vistula House', 'Warsaw', 'east', 'PL', '2018-01-15'],
  ['Prater Pavilion', 'Vienna', 'east', 'AT', '2021-05-20'],
  ['Charles Bridge', 'Prague', 'east', 'CZ', '2022-08-11'],
  ['Canal Quarter', 'Amsterdam', 'west', 'NL', '2016-10-04'],
  ['Left Bank', 'Paris', 'west', 'FR', '2014-12-01'],
  ['Market Cross', 'London', 'west', 'GB', '2013-07-19'],
].map(([name = '', city = '', region = '', country = '', openedOn = ''], index) => ({
  id: `shop_${String(index + 1).padStart(2, '0')}`,
  name,
  city,
  region,
  country,
  opened_on: openedOn,
}))

const ranges: Array<[category: string, price: number, names: string[]]> = [
  ['coffee', 9.5, ['Morning Roast', 'Harbour Blend', 'Dark Alley', 'House Espresso', 'Slow Drip', 'Decaf Sunday']],
  ['tea', 6.9, ['Green Hill', 'Earl Grey', 'Rooibos', 'Jasmine Pearl', 'Mint Garden', 'Winter Spice']],
  ['chocolate', 4.2, ['Sea Salt', 'Orange Peel', 'Hazelnut', 'Plain Dark', 'Milk and Honey', 'Chili']],
  ['kitchen', 24, ['Steel Kettle', 'Glass Carafe', 'Hand Grinder', 'Filter Holder', 'Milk Jug', 'Scale']],
  ['books', 18.5, ['Bread at Home', 'The Bean Atlas', 'Tea Houses', 'One Pot', 'Salt and Smoke', 'Garden Year']],
]

export const products: Product[] = ranges.flatMap(([category, price, names], range) =>
  names.map((name, index) => ({
    id: `prod_${String(range * 6 + index + 1).padStart(2, '0')}`,
    name,
    category,
    price: Math.round(price * (1 + index * 0.15) * 100) / 100,
    tags: index % 2 === 0 ? [category, 'favourite'] : [category],
  })),
)

const people = ['Ada', 'Bruno', 'Clara', 'David', 'Elif', 'Farid', 'Greta', 'Hugo', 'Ines', 'Jonas', 'Katya', 'Luca']
const countries = ['DE', 'DK', 'NO', 'IT', 'ES', 'PL', 'AT', 'CZ', 'NL', 'FR', 'GB', 'SE']
const statuses = ['delivered', 'delivered', 'delivered', 'delivered', 'shipped', 'returned', 'cancelled']

/** The orders of the two years before a day, oldest first. */
export function ordersUntil(day: Date): Order[] {
  const end = Math.floor(day.getTime() / dayMs)
  return Array.from({ length: days }, (_, index) => ordersOf(end - days + index)).flat()
}

function ordersOf(day: number): Order[] {
  const random = seeded(day)
  const date = new Date(day * dayMs)
  // Weekends and December sell more.
  const busy = (date.getUTCDay() % 6 === 0 ? 3 : 0) + (date.getUTCMonth() === 11 ? 4 : 0)
  const count = 4 + busy + Math.floor(random() * 4)
  return Array.from({ length: count }, (_, index) => {
    const product = pick(products, random)
    const quantity = 1 + Math.floor(random() * 5)
    const name = pick(people, random)
    const minute = Math.floor(random() * 1440)
    return {
      id: `ord_${day * 100 + index}`,
      ordered_at: new Date(day * dayMs + minute * 60_000).toISOString().replace('.000', ''),
      shop_id: pick(shops, random).id,
      product_id: product.id,
      quantity,
      total: Math.round(product.price * quantity * 100) / 100,
      status: pick(statuses, random),
      customer: { name, email: `${name.toLowerCase()}@example.com`, country: pick(countries, random) },
    }
  })
}

function pick<Item>(items: Item[], random: () => number): Item {
  const item = items[Math.floor(random() * items.length)]
  if (item === undefined) throw new Error('nothing to pick from')
  return item
}

/** Mulberry32: small, and the same everywhere. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
