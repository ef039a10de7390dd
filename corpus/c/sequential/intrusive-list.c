// A doubly linked intrusive list with container_of and offsetof.
// Source: the list of the Linux kernel, in our words.
// Expected: verified.

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

struct list {
	struct list *prev, *next;
};

struct task {
	char priority;
	long deadline;
	struct list run_link;
	struct list wait_link;
};

#define LIST_INIT(name) { &(name), &(name) }
#define for_each(pos, head) for ((pos) = (head)->next; (pos) != (head); (pos) = (pos)->next)

static struct list run_queue = LIST_INIT(run_queue);
static struct list wait_queue = LIST_INIT(wait_queue);

static void insert_after(struct list *where, struct list *what)
{
	what->prev = where;
	what->next = where->next;
	where->next->prev = what;
	where->next = what;
}

static void unlink_node(struct list *l)
{
	l->prev->next = l->next;
	l->next->prev = l->prev;
	l->prev = l->next = NULL;
}

static int is_empty(const struct list *head)
{
	return head->next == head;
}

static struct task *task_new(char priority, long deadline)
{
	struct task *t = malloc(sizeof(struct task));

	if (t == NULL)
		exit(1);
	t->priority = priority;
	t->deadline = deadline;
	insert_after(run_queue.prev, &t->run_link);
	insert_after(&wait_queue, &t->wait_link);
	return t;
}

int main(void)
{
	struct list *p;
	long sum = 0;
	int position = 0;

	task_new(1, 10);
	task_new(2, 20);
	task_new(3, 30);

	for_each (p, &run_queue) {
		struct task *t = container_of(p, struct task, run_link);

		position++;
		assert(t->priority == position);
		sum += t->deadline;
	}
	assert(sum == 60);

	for_each (p, &wait_queue) {
		assert(container_of(p, struct task, wait_link)->priority == position);
		position--;
	}
	assert(position == 0);

	while (!is_empty(&run_queue)) {
		struct task *t = container_of(run_queue.next, struct task, run_link);

		unlink_node(&t->run_link);
		unlink_node(&t->wait_link);
		free(t);
	}
	assert(is_empty(&wait_queue));
	return 0;
}
