"""What people write that is no word problem, and the one answer to it: a model this small should say what it can do."""

from random import Random

REPLY = "I can only solve short word problems with numbers. Tell me who has what, and ask me how many."
PHRASES = [
    "Hello", "Hello!", "Hi", "Hi there", "Hey", "Good morning", "Good evening!", "How are you?", "Who are you?", "What can you do?", "Help",
    "Can you help me?", "Tell me a joke", "Thanks", "Thank you!", "Yes", "No", "ok", "test", "This is a test.", "What is your name?", "Bye",
    "Are you a robot?", "Say hello", "Sing a song.", "What time is it?", "Tell me about yourself.", "What do you think?", "Why?", "Please explain.",
    "I am bored.", "Hola", "Bonjour!", "Guten Tag", "Ping", "Are you there?", "What is new today?", "Nice to meet you.", "How old are you?", "Go on",
]
PATTERNS = [
    "What is the {a} of {b}?", "Write a {a} about {b}.", "Tell me a {a} about {b}.", "Explain {b} to me.", "Who wrote {b}?", "Where is {b}?", "Why is {b} so {c}?",
    "Translate {b} into French.", "Write a {a} in {b}.", "How does a {a} work?", "Is {b} {c}?", "Give me a {a} for {b}.", "What do you know about {b}?", "I like {b}.",
    "Summarize {b}.", "Can you write a {a}?", "Please write a {c} {a} for {b}", "The {a} is {c}.", "How do I make a {a}?", "Fix this {a}: {b}",
]
A = ["capital", "poem", "story", "function", "recipe", "letter", "program", "joke", "song", "list", "meaning", "color", "plan", "test", "haiku", "colour", "size", "name", "king", "bug"]
B = [
    "France", "the sea", "Python", "love", "Germany", "the sky", "my dog", "Hamlet", "quantum physics", "the moon", "winter", "Japan", "water", "Paris", "coffee",
    "history", "my friend", "good night", "space", "the weather", "Java", "music", "a rainy day", "football", "this text", "Rome", "dinner", "the world", "cats", "light",
]
C = ["blue", "short", "long", "big", "funny", "good", "old", "cold", "hard", "nice", "far", "red", "loud", "slow"]
LETTERS = "etaoinshrdlucmfwypvbgk"


def remark(random: Random) -> str:
    kind = random.random()
    if kind < 0.3:
        return random.choice(PHRASES)
    if kind < 0.85:
        return random.choice(PATTERNS).format(a=random.choice(A), b=random.choice(B), c=random.choice(C))
    return " ".join("".join(random.choices(LETTERS, k=random.randint(1, 8))) for _ in range(random.randint(1, 7))) + random.choice(["", ".", "?", "!"])
