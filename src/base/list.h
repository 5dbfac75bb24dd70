/* list.h — intrusive doubly linked list. */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include "base/base.h"

struct list {
	struct list *prev, *next;
};

static inline void list_init(struct list *l)
{
	l->prev = l->next = l;
}
static inline bool list_empty(const struct list *l)
{
	return l->next == l;
}
static inline void list_append(struct list *head, struct list *item)
{
	item->prev = head->prev;
	item->next = head;
	head->prev->next = item;
	head->prev = item;
}
static inline void list_remove(struct list *item)
{
	item->prev->next = item->next;
	item->next->prev = item->prev;
	list_init(item);
}
static inline struct list *list_pop(struct list *head)
{
	struct list *item = head->next;
	if (item == head)
		return NULL;
	list_remove(item);
	return item;
}
#define LIST_EACH(it, head) for (struct list *it = (head)->next; it != (head); it = it->next)

#endif
