import type { RoutableProject } from '../../../server/router/index.ts'

const day = { type: 'string', format: 'date' } as const

/** A small shop: customers order products, parcels go to cities. Written for these tests. */
export const shop: RoutableProject = {
  values: {
    'customers.name': ['Anna Berg', 'Jörg Müller', 'Priya Nair', 'Tom Okafor', 'Lucía Fernández', 'Wei Zhang'],
    'products.name': ['espresso machine', 'coffee grinder', 'milk frother', 'water kettle', 'tea pot', 'travel mug'],
    'cities.name': ['Oslo', 'Bergen', 'Hamburg', 'Lyon', 'New York', 'York', 'San Sebastián'],
    'countries.code': [
      { label: 'Norway', value: 'NO' },
      { label: 'Germany', value: 'DE' },
      { label: 'France', value: 'FR' },
      { label: 'United States', value: 'US' },
    ],
  },
  queries: [
    {
      name: 'orders_by_customer',
      description: 'All orders placed by a customer',
      slots: {
        properties: { customer: { type: 'string', 'x-values-from': 'customers.name' } },
        required: ['customer'],
      },
      examples: [
        { question: 'show the orders of Anna Berg', parameters: { customer: 'Anna Berg' } },
        { question: 'what did Tom Okafor order', parameters: { customer: 'Tom Okafor' } },
        { question: 'list everything Priya Nair has bought', parameters: { customer: 'Priya Nair' } },
      ],
    },
    {
      name: 'revenue_between',
      description: 'Total revenue in a period',
      slots: { properties: { from_date: day, to_date: day }, required: ['from_date', 'to_date'] },
      examples: [
        { question: 'how much revenue did we make last month', parameters: {} },
        { question: 'what was our turnover in March 2025', parameters: {} },
        { question: 'total sales between January and April 2025', parameters: {} },
      ],
    },
    {
      name: 'stock_of_product',
      description: 'How many pieces of a product are in stock',
      slots: { properties: { product: { type: 'string', 'x-values-from': 'products.name' } }, required: ['product'] },
      examples: [
        { question: 'how many espresso machines are left', parameters: { product: 'espresso machine' } },
        { question: 'is the milk frother still in stock', parameters: { product: 'milk frother' } },
        { question: 'what is the inventory of travel mugs', parameters: { product: 'travel mug' } },
      ],
    },
    {
      name: 'orders_above_amount',
      description: 'Orders worth more than an amount',
      slots: { properties: { amount: { type: 'number', minimum: 0 } }, required: ['amount'] },
      examples: [
        { question: 'orders over 200 euros', parameters: { amount: 200 } },
        { question: 'which orders cost more than $1,500', parameters: { amount: 1500 } },
        { question: 'show purchases above 99.50', parameters: { amount: 99.5 } },
      ],
    },
    {
      name: 'shipping_cost',
      description: 'What it costs to ship a parcel from one city to another',
      slots: {
        properties: {
          from_city: { type: 'string', 'x-values-from': 'cities.name' },
          to_city: { type: 'string', 'x-values-from': 'cities.name' },
        },
        required: ['from_city', 'to_city'],
      },
      examples: [
        { question: 'shipping cost from Oslo to Hamburg', parameters: { from_city: 'Oslo', to_city: 'Hamburg' } },
        {
          question: 'what does it cost to send a parcel to Lyon from Bergen',
          parameters: { from_city: 'Bergen', to_city: 'Lyon' },
        },
        {
          question: 'price of a delivery from New York to York',
          parameters: { from_city: 'New York', to_city: 'York' },
        },
      ],
    },
    {
      name: 'orders_by_status',
      description: 'Orders in a given state of delivery',
      slots: {
        properties: {
          status: {
            type: 'string',
            enum: ['open', 'shipped', 'returned', 'cancelled'],
            'x-synonyms': { cancelled: ['called off'], returned: ['sent back'] },
          },
        },
        required: ['status'],
      },
      examples: [
        { question: 'which orders are shipped', parameters: { status: 'shipped' } },
        { question: 'list all returned orders', parameters: { status: 'returned' } },
        { question: 'show me orders that are still open', parameters: { status: 'open' } },
      ],
    },
    {
      name: 'customers_by_country',
      description: 'Customers that live in a country',
      slots: { properties: { country: { type: 'string', 'x-values-from': 'countries.code' } }, required: ['country'] },
      examples: [
        { question: 'customers in Norway', parameters: { country: 'NO' } },
        { question: 'who buys from us in Germany', parameters: { country: 'DE' } },
        { question: 'list the clients living in France', parameters: { country: 'FR' } },
      ],
    },
    {
      name: 'best_selling_products',
      description: 'The products that sell best, most sold first',
      slots: { properties: { limit: { type: 'integer', default: 10 } } },
      examples: [
        { question: 'what are our best sellers', parameters: {} },
        { question: 'top 5 products by sales', parameters: { limit: 5 } },
        { question: 'which products sell the most', parameters: {} },
      ],
    },
    {
      name: 'order_details',
      description: 'Details of one order by its number',
      slots: {
        properties: { order_number: { type: 'string', pattern: '^[A-Z]{2}-\\d{4}$' } },
        required: ['order_number'],
      },
      examples: [
        { question: 'show order AB-1234', parameters: { order_number: 'AB-1234' } },
        { question: 'what is in order KX-9081', parameters: { order_number: 'KX-9081' } },
        { question: 'details for order number ZZ-0007', parameters: { order_number: 'ZZ-0007' } },
      ],
    },
    {
      name: 'catalogue_of_year',
      description: 'The printed catalogue of a year',
      slots: { properties: { year: { type: 'string' } }, required: ['year'] },
      examples: [
        { question: 'show the catalogue of 2019', parameters: { year: '2019' } },
        { question: 'printed catalogue for 2021', parameters: { year: '2021' } },
      ],
    },
    {
      name: 'customers_named',
      description: 'Customers whose notes contain a text',
      slots: {
        properties: {
          text: { type: 'string' },
          cities: { type: 'array', items: { type: 'string', 'x-values-from': 'cities.name' } },
        },
        required: ['text'],
      },
      examples: [
        { question: 'find customers with a note containing gift wrapping', parameters: { text: 'gift wrapping' } },
        { question: 'customer notes containing fragile', parameters: { text: 'fragile' } },
        {
          question: 'notes containing allergy for customers in Oslo and Lyon',
          parameters: { text: 'allergy', cities: ['Oslo', 'Lyon'] },
        },
      ],
    },
    {
      name: 'average_rating',
      description: 'Average customer rating of a product',
      slots: { properties: { product: { type: 'string', 'x-values-from': 'products.name' } }, required: ['product'] },
      examples: [
        { question: 'how is the coffee grinder rated', parameters: { product: 'coffee grinder' } },
        { question: 'average rating of the water kettle', parameters: { product: 'water kettle' } },
        { question: 'what do customers think of the tea pot', parameters: { product: 'tea pot' } },
      ],
    },
  ],
}
