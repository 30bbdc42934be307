/* What a stand-in is to do wrong stands in a file, CONTROL, so that tests can change it in this process and in others. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *find(const char *word) {
    static __thread char text[4096];
    FILE *f = fopen(CONTROL, "r");
    if (!f) return NULL;
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return strstr(text, word);
}
static int says(const char *word) { return find(word) != NULL; }
static inline uint64_t value(const char *word) { return strtoull(find(word) + strlen(word), NULL, 10); }
/* "driver=crash", "open=hang" and the like. */
static void misbehave(const char *where) {
    char word[64];
    snprintf(word, sizeof word, "%s=crash", where);
    if (says(word)) *(volatile int *)8 = 1;
    snprintf(word, sizeof word, "%s=abort", where);
    if (says(word)) { fprintf(stderr, "terminate called: a fault of the driver\n"); abort(); }
    snprintf(word, sizeof word, "%s=exit", where);
    if (says(word)) _exit(0);
    snprintf(word, sizeof word, "%s=hang", where);
    if (says(word)) for (;;) sleep(1);
}
