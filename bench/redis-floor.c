/* Least work of a client of Redis: sends one batch of GETs over each connection again and again and counts the bytes
 * of the answers without looking at them. Usage: redis-floor PORT CONNECTIONS DEPTH SECONDS KEY ANSWER_BYTES; prints
 * the CPU time in us for each operation. */
#include <arpa/inet.h>
#include <err.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

int main(int argc, char **argv) {
  if (argc != 7) errx(2, "usage: redis-floor PORT CONNECTIONS DEPTH SECONDS KEY ANSWER_BYTES");
  int connections = atoi(argv[2]), depth = atoi(argv[3]), one = 1;
  long answer = atol(argv[6]) * depth, *left = calloc(connections, sizeof *left);
  static char batch[1 << 20], buffer[1 << 20];
  size_t size = 0;
  for (int i = 0; i < depth; i++)
    size += sprintf(batch + size, "*2\r\n$3\r\nGET\r\n$%zu\r\n%s\r\n", strlen(argv[5]), argv[5]);
  int *sockets = calloc(connections, sizeof *sockets), poll = epoll_create1(0);
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  for (int i = 0; i < connections; i++) {
    sockets[i] = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(sockets[i], (struct sockaddr *)&to, sizeof to)) err(1, "connect");
    setsockopt(sockets[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    epoll_ctl(poll, EPOLL_CTL_ADD, sockets[i], &(struct epoll_event){.events = EPOLLIN, .data.u32 = i});
    if (write(sockets[i], batch, size) != (ssize_t)size) err(1, "write");
    left[i] = answer;
  }
  long operations = 0;
  for (double until = now() + atof(argv[4]); now() < until;) {
    struct epoll_event ready[256];
    int n = epoll_wait(poll, ready, 256, 1000);
    for (int i = 0; i < n; i++) {
      int c = ready[i].data.u32;
      ssize_t got = read(sockets[c], buffer, sizeof buffer);
      if (got <= 0) err(1, "read");
      if ((left[c] -= got) > 0) continue;
      if (left[c]) errx(1, "an answer has other than %s bytes", argv[6]);
      operations += depth;
      left[c] = answer;
      if (write(sockets[c], batch, size) != (ssize_t)size) err(1, "write");
    }
  }
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  double cpu = used.ru_utime.tv_sec + used.ru_stime.tv_sec + 1e-6 * (used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  printf("%.4f %.0f\n", 1e6 * cpu / operations, operations / atof(argv[4]));
}
