#include "queue/floor.h"

#include <stdlib.h>

void floor_init(struct floor *floor) {
  *floor = (struct floor){.version = 0};
  pthread_mutex_init(&floor->lock, NULL);
}

void floor_release(struct floor *floor) {
  free(floor->ids);
  pthread_mutex_destroy(&floor->lock);
}

void floor_forget(struct floor *floor) {
  pthread_mutex_lock(&floor->lock);
  floor->version = 0;
  pthread_mutex_unlock(&floor->lock);
}

bool floor_start(struct floor *floor, int version, struct lanes lanes, int64_t id, struct error *error) {
  bool ok = true;
  pthread_mutex_lock(&floor->lock);
  if (floor->version < version) {
    int64_t *ids = realloc(floor->ids, (size_t)lanes.count * sizeof *ids);
    ok = ids != NULL;
    if (ids != NULL) {
      floor->ids = ids;
      floor->lanes = lanes;
      floor->version = version;
      for (int i = 0; i < lanes.count; i++)
        ids[i] = id;
    }
  }
  pthread_mutex_unlock(&floor->lock);
  return ok || error_set(error, FAILURE_RETRY, "out of memory");
}

void starts_init(struct starts *starts, size_t limit) {
  buffer_init(&starts->lanes, limit);
  buffer_init(&starts->floors, limit);
}

void starts_release(struct starts *starts) {
  buffer_release(&starts->lanes);
  buffer_release(&starts->floors);
}

bool starts_ok(const struct starts *starts, struct error *error) {
  return buffer_ok(&starts->lanes, "the list of lanes", error) &&
         buffer_ok(&starts->floors, "the list of floors", error);
}

static void write_lane(const struct floor *floor, int lane, struct starts *starts) {
  const char *separator = starts->lanes.length > 1 ? "," : "";
  buffer_add_format(&starts->lanes, "%s%d", separator, lane);
  buffer_add_format(&starts->floors, "%s%lld", separator, (long long)floor->ids[lane - floor->lanes.first]);
}

bool floor_write(struct floor *floor, int version, const int *lanes, size_t count, struct starts *starts) {
  buffer_clear(&starts->lanes);
  buffer_clear(&starts->floors);
  pthread_mutex_lock(&floor->lock);
  bool current = version != 0 && floor->version == version;
  if (current) {
    buffer_add_string(&starts->lanes, "{");
    buffer_add_string(&starts->floors, "{");
    if (lanes != NULL)
      for (size_t i = 0; i < count; i++)
        write_lane(floor, lanes[i], starts);
    else
      for (int i = 0; i < floor->lanes.count; i++)
        write_lane(floor, floor->lanes.first + i, starts);
    buffer_add_string(&starts->lanes, "}");
    buffer_add_string(&starts->floors, "}");
  }
  pthread_mutex_unlock(&floor->lock);
  return current;
}

bool floor_read(struct floor *floor, int version, int lane, int64_t *id) {
  pthread_mutex_lock(&floor->lock);
  bool current = version != 0 && floor->version == version;
  if (current)
    *id = floor->ids[lane - floor->lanes.first];
  pthread_mutex_unlock(&floor->lock);
  return current;
}

void floor_raise(struct floor *floor, int version, int lane, int64_t id) {
  pthread_mutex_lock(&floor->lock);
  if (floor->version == version && floor->ids[lane - floor->lanes.first] < id)
    floor->ids[lane - floor->lanes.first] = id;
  pthread_mutex_unlock(&floor->lock);
}

int64_t floor_lowest(struct floor *floor, int *version) {
  pthread_mutex_lock(&floor->lock);
  int64_t lowest = floor->version == 0 ? 0 : floor->ids[0];
  for (int i = 0; floor->version != 0 && i < floor->lanes.count; i++)
    if (floor->ids[i] < lowest)
      lowest = floor->ids[i];
  *version = floor->version;
  pthread_mutex_unlock(&floor->lock);
  return lowest;
}
