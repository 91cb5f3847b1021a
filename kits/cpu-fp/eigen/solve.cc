// Linear algebra with Eigen's templates: a sparse Poisson problem by conjugate gradients and by a Cholesky
// factorisation, dense symmetric eigenvalues, a QR solve, and many small fixed-size products.
//
// Usage: solve INPUT OUTPUT      INPUT: GRID DENSE SMALL SEED
#include <Eigen/Dense>
#include <Eigen/Sparse>

#include <cstdint>
#include <cstdio>
#include <vector>

// Lehmer's generator with the parameters of Park and Miller, to (-0.5, 0.5).
static long state;
static double draw() {
    state = state * 48271 % 2147483647;
    return double(state) / 2147483647.0 - 0.5;
}

static void say(std::FILE *out, const char *what, double residual, double limit) {
    if (residual < limit) std::fprintf(out, "%s residual PASS\n", what);
    else std::fprintf(out, "%s residual %.3e\n", what, residual);
}

static void sparse(std::FILE *out, int side) {
    int n = side * side;
    std::vector<Eigen::Triplet<double>> entries;
    for (int y = 0; y < side; y++) {
        for (int x = 0; x < side; x++) {
            int i = y * side + x;
            double centre = 0.01;
            auto join = [&](int j) {
                double c = 1 + 0.5 * ((i * 7 + j * 7) % 11) / 11.0;
                entries.emplace_back(i, j, -c);
                centre += c;
            };
            if (x > 0) join(i - 1);
            if (x + 1 < side) join(i + 1);
            if (y > 0) join(i - side);
            if (y + 1 < side) join(i + side);
            entries.emplace_back(i, i, centre);
        }
    }
    Eigen::SparseMatrix<double> a(n, n);
    a.setFromTriplets(entries.begin(), entries.end());
    Eigen::VectorXd b(n);
    for (int i = 0; i < n; i++) b[i] = draw();
    Eigen::ConjugateGradient<Eigen::SparseMatrix<double>, Eigen::Lower | Eigen::Upper> cg;
    cg.setTolerance(1e-10);
    cg.compute(a);
    Eigen::VectorXd x = cg.solve(b);
    say(out, "conjugate gradients", (a * x - b).norm() / b.norm(), 1e-9);
    Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> ldlt(a);
    Eigen::VectorXd y = ldlt.solve(b);
    say(out, "factorisation", (a * y - b).norm() / b.norm(), 1e-10);
    say(out, "both ways", (x - y).norm() / y.norm(), 1e-6);
    std::fprintf(out, "sparse norm %.8e\n", y.norm());
}

static void dense(std::FILE *out, int n) {
    Eigen::MatrixXd a(n, n);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) a(i, j) = draw();
    Eigen::MatrixXd s = a + a.transpose();
    Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(s);
    const Eigen::MatrixXd &v = eigen.eigenvectors();
    say(out, "eigenvectors", (s * v - v * eigen.eigenvalues().asDiagonal()).norm() / s.norm(), 1e-11);
    for (int i = 0; i < n; i += n / 5) std::fprintf(out, "eigenvalue %d %.8e\n", i, eigen.eigenvalues()[i]);
    Eigen::VectorXd b(n);
    for (int i = 0; i < n; i++) b[i] = draw();
    Eigen::VectorXd x = a.colPivHouseholderQr().solve(b);
    say(out, "least squares", (a * x - b).norm() / (a.norm() * x.norm()), 1e-13);
    Eigen::VectorXd y = a.partialPivLu().solve(b);
    say(out, "elimination", (a * y - b).norm() / (a.norm() * y.norm()), 1e-13);
    std::fprintf(out, "dense norm %.8e\n", x.norm());
}

// One after the other: the order in which a call's arguments are computed is the compiler's.
static Eigen::Vector3d vector() {
    double z = draw();
    double y = draw();
    double x = draw();
    return Eigen::Vector3d(x, y, z);
}

// Chains of joints: rotations of points by quaternions and four-by-four matrices.
static void small(std::FILE *out, int count) {
    Eigen::Matrix4d sum = Eigen::Matrix4d::Zero();
    Eigen::Vector4d at(1, 2, 3, 1);
    for (int i = 0; i < count; i++) {
        Eigen::Vector3d axis = vector();
        axis.z() += 1;
        Eigen::Quaterniond turn(Eigen::AngleAxisd(draw(), axis.normalized()));
        Eigen::Matrix4d step = Eigen::Matrix4d::Identity();
        step.topLeftCorner<3, 3>() = turn.toRotationMatrix();
        step.topRightCorner<3, 1>() = vector();
        at = step * at;
        sum += step * step.transpose() * step.inverse();
    }
    std::fprintf(out, "small %.8e %.8e %.8e\n", sum.norm(), sum.trace(), at.norm());
}

int main(int argc, char **argv) {
    std::FILE *in = argc == 3 ? std::fopen(argv[1], "r") : nullptr;
    std::FILE *out = in ? std::fopen(argv[2], "w") : nullptr;
    int grid, order, joints;
    if (!out || std::fscanf(in, "%d %d %d %ld", &grid, &order, &joints, &state) != 4) {
        std::fprintf(stderr, "usage: solve INPUT OUTPUT\n");
        return 2;
    }
    state = state % 2147483646 + 1;
    sparse(out, grid);
    dense(out, order);
    small(out, joints);
    return std::fclose(out) == 0 ? 0 : 1;
}
