// Solves a minimum-cost flow problem with LEMON: by the network simplex, then again by cost scaling, and
// writes both costs, which must agree.
//
// Usage: flow PROBLEM ANSWER
#include <lemon/cost_scaling.h>
#include <lemon/dimacs.h>
#include <lemon/network_simplex.h>
#include <lemon/smart_graph.h>

#include <cstdio>
#include <fstream>

int main(int argc, char **argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: flow PROBLEM ANSWER\n");
        return 2;
    }
    typedef lemon::SmartDigraph Graph;
    typedef Graph::ArcMap<long long> Arcs;
    Graph graph;
    Arcs lower(graph), capacity(graph), cost(graph);
    Graph::NodeMap<long long> supply(graph);
    std::ifstream problem(argv[1]);
    if (!problem) {
        std::fprintf(stderr, "flow: %s cannot be read\n", argv[1]);
        return 1;
    }
    lemon::readDimacsMin(problem, graph, lower, capacity, cost, supply);

    lemon::NetworkSimplex<Graph, long long, long long> simplex(graph);
    simplex.upperMap(capacity).costMap(cost).supplyMap(supply);
    if (simplex.run() != simplex.OPTIMAL) {
        std::fprintf(stderr, "flow: the network simplex found no optimum\n");
        return 1;
    }
    lemon::CostScaling<Graph, long long, long long> scaling(graph);
    scaling.upperMap(capacity).costMap(cost).supplyMap(supply);
    if (scaling.run() != scaling.OPTIMAL) {
        std::fprintf(stderr, "flow: cost scaling found no optimum\n");
        return 1;
    }
    std::FILE *answer = std::fopen(argv[2], "w");
    if (!answer) {
        std::fprintf(stderr, "flow: %s cannot be written\n", argv[2]);
        return 1;
    }
    std::fprintf(answer, "nodes %d\narcs %d\n", graph.nodeNum(), graph.arcNum());
    std::fprintf(answer, "simplex %lld\n", simplex.totalCost<long long>());
    std::fprintf(answer, "scaling %lld\n", scaling.totalCost<long long>());
    return std::fclose(answer) == 0 ? 0 : 1;
}
