/* make_pictures DIR CLASSES COUNT WIDTH HEIGHT [BAD]: a folder of JPEGs with a folder for each class, COUNT
 * in all, of which the last BAD are damaged in one of five ways. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pictures.h"

static bool damage(const char *path, uint32_t how) {
    struct stat info;
    static uint8_t bytes[1 << 20];
    if (stat(path, &info) != 0 || (size_t)info.st_size > sizeof bytes) return false;
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    const size_t n = fread(bytes, 1, sizeof bytes, file);
    (void)fclose(file);
    switch (how % 5) {
    case 0: /* truncated */
        return truncate(path, (off_t)(n / 2)) == 0;
    case 1: /* empty */
        return truncate(path, 0) == 0;
    case 2: /* no picture */
        return pictures_write_bytes(path, "not a picture", 13);
    case 3: /* its middle is lost */
        memset(bytes + n / 3, 0xFF, n / 3);
        return pictures_write_bytes(path, bytes, n);
    default: /* its head is */
        memset(bytes + 4, 0, 60);
        return pictures_write_bytes(path, bytes, n);
    }
}

int main(int argc, char **argv) {
    if (argc != 6 && argc != 7) return 2;
    const uint32_t n_classes = (uint32_t)atoi(argv[2]), n = (uint32_t)atoi(argv[3]);
    const uint32_t width = (uint32_t)atoi(argv[4]), height = (uint32_t)atoi(argv[5]);
    const uint32_t n_bad = argc == 7 ? (uint32_t)atoi(argv[6]) : 0;
    uint8_t *rgb = malloc((size_t)3 * width * height);
    if (!rgb || (mkdir(argv[1], 0777) != 0 && access(argv[1], W_OK) != 0)) return 1;
    for (uint32_t i = 0; i < n; i++) {
        char path[1024];
        const uint32_t label = i % n_classes;
        (void)snprintf(path, sizeof path, "%s/class%02u", argv[1], label);
        if (i < n_classes) (void)mkdir(path, 0777);
        (void)snprintf(path, sizeof path, "%s/class%02u/%06u.jpg", argv[1], label, i);
        pictures_draw(rgb, width, height, label, i);
        if (!pictures_write_jpeg(path, rgb, width, height, (pictures_way){.grey = false})) return 1;
        if (i + n_bad >= n && !damage(path, i + n_bad - n)) return 1;
    }
    free(rgb);
    return 0;
}
