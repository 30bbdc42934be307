"""The families of problems: each a function that fills a Draft. The first is drawn twice as often as the others."""

from . import goods, money, numbers, people, places

FAMILIES = [
    goods.stock, goods.share, goods.baking,
    money.shop, money.wages, money.savings, money.tickets,
    people.ages, people.bus, people.points, people.school,
    places.trip, places.climb, places.reading, places.garden, places.farm, places.tank, places.fence,
    numbers.sums,
]
WEIGHTS = [2] + [1] * (len(FAMILIES) - 1)
