"""Names and things that problems are about. All are single words, so that each can become one token."""

NAMES = [
    ("Mia", "She"), ("Tom", "He"), ("Anna", "She"), ("Ben", "He"), ("Lena", "She"), ("Omar", "He"), ("Ivy", "She"),
    ("Max", "He"), ("Nora", "She"), ("Sam", "He"), ("Zoe", "She"), ("Leo", "He"), ("Emma", "She"), ("Paul", "He"),
    ("Rosa", "She"), ("Hugo", "He"), ("Lily", "She"), ("Ravi", "He"), ("Aisha", "She"), ("Kenji", "He"),
    ("Clara", "She"), ("Felix", "He"), ("Ines", "She"), ("David", "He"), ("Sofia", "She"), ("Jonas", "He"),
    ("Mei", "She"), ("Lucas", "He"), ("Julia", "She"), ("Adam", "He"), ("Maria", "She"), ("Peter", "He"),
]
THINGS = [
    "apples", "pens", "books", "cards", "stickers", "coins", "shells", "eggs", "cookies", "beads", "stamps", "toys",
    "marbles", "pencils", "oranges", "flowers", "candles", "buttons", "balls", "photos",
]
BOXES = ["bags", "boxes", "packs", "jars", "baskets", "crates"]
PLANTS = ["trees", "roses", "tulips", "bushes", "plants", "vines"]
BAKED = ["cookies", "muffins", "rolls", "pies", "cakes", "tarts"]
WANTED = ["bike", "camera", "guitar", "tent", "phone", "clock", "lamp", "drum"]
TIMES = {2: "twice", 3: "three times", 4: "four times", 5: "five times"}
